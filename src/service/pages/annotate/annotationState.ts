/** The types of the state, events, and commands of `annotationStep`, and the initial state. */
import type { AnnotateApi, Draft, Flagging, HeldItem, Progress, Work } from "../../pageApi/AnnotateApi.ts"
import type { Requests } from "../../pageApi/PageClient.ts"
import type { Problem } from "../shared/api.ts"
import * as attention from "./attention.ts"
import type { Entry, Mode } from "./entry.ts"

export type Wanted =
  | { readonly _tag: "next" | "guidelines" | "submit" | "undo" | "signOut" }
  | { readonly _tag: "skip"; readonly reason: string }
  | { readonly _tag: "correct"; readonly itemId: number }
  | { readonly _tag: "flag"; readonly flag: Flagging }

export const want = (wanted: Exclude<Wanted["_tag"], "skip" | "flag" | "correct">): Event => ({
  _tag: "want",
  wanted: { _tag: wanted },
})

export type Ask = Wanted["_tag"] | "join" | "session" | "save"

export type Failure = Pick<Problem, "status" | "detail" | "retryAfter">

export interface Notice {
  readonly tone: "good" | "plain" | "warn" | "bad"
  readonly text: string
}

export type SignedOut = "never" | "ended" | "invitation" | "left"

export interface AnnotationState {
  readonly phase: "starting" | "signedOut" | "working"
  readonly signedOut: SignedOut
  readonly name: string
  readonly progress: Progress | null
  /** The item to judge. Null if there is none, or if the service has not answered yet (`isLoaded` is then false). */
  readonly item: HeldItem | null
  readonly entry: Entry | null
  readonly isLoaded: boolean
  readonly mode: Mode
  readonly attention: attention.Attention
  readonly visible: boolean
  readonly revision: number
  /** The newest `revision` of `entry` that the service has stored. */
  readonly saved: number
  /** The time of the oldest change that the service has not stored. Null if the service has stored all changes. */
  readonly unsavedSince: number | null
  readonly saveDue: boolean
  readonly lastSave: number
  /** The interval between renewals of the expert's hold on the item, in milliseconds. */
  readonly holdEvery: number
  readonly inFlight: { readonly ask: Ask; readonly revision: number } | null
  readonly wanted: Wanted | null
  /** Set while requests fail because of the connection or the service. Failed requests are retried. */
  readonly trouble: { readonly words: string; readonly attempts: number; readonly waiting: boolean } | null
  readonly code: string | null
  /** Not null if a failed submission may have arrived. `judged`: number of items judged before this submission. */
  readonly unsure: { readonly judged: number; readonly broke: boolean } | null
  readonly notice: Notice | null
  readonly lost: { readonly prompt: string; readonly choice: string; readonly rationale: string } | null
}

export type Event =
  | { readonly _tag: "start"; readonly code: string | null; readonly mode: Mode }
  | {
      readonly _tag: "answer"
      readonly ask: "next" | "guidelines" | "submit" | "skip" | "flag" | "undo" | "correct"
      readonly work: Work
      /** The draft that this device stores for the item, or null. */
      readonly copy: Draft | null
    }
  | { readonly _tag: "joined" | "saved" | "signedOut" }
  | { readonly _tag: "session"; readonly name: string; readonly progress: Progress }
  | { readonly _tag: "failure"; readonly ask: Ask; readonly failure: Failure }
  | { readonly _tag: "edit"; readonly itemId: number; readonly change: (entry: Entry) => Entry }
  | { readonly _tag: "want"; readonly wanted: Wanted }
  | { readonly _tag: "timer"; readonly timer: Timer }
  | { readonly _tag: "visible"; readonly visible: boolean }
  | { readonly _tag: "activity" | "leave" | "retry" | "putAway" }
  | { readonly _tag: "say"; readonly notice: Notice | null }

export type Timer = "save" | "hold" | "poll" | "retry"

export type AnnotateRequests = Requests<typeof AnnotateApi, "/annotate/api">

export type Sent = {
  readonly [K in keyof AnnotateRequests]: {
    readonly request: K
    readonly input: unknown extends AnnotateRequests[K]["input"] ? undefined : AnnotateRequests[K]["input"]
  }
}[keyof AnnotateRequests]

export type Command =
  | {
      readonly _tag: "ask"
      readonly ask: Ask
      readonly sent: Sent
      /** Whether the browser must send the request even if the page closes. */
      readonly leaving: boolean
    }
  | { readonly _tag: "timer"; readonly timer: Timer; readonly after: number | null }
  | { readonly _tag: "keep"; readonly itemId: number; readonly draft: Draft }
  | { readonly _tag: "forget"; readonly itemId: number }
  | { readonly _tag: "forgetAll" }
  | { readonly _tag: "mode"; readonly mode: Mode }

export const initial = (now: number, visible: boolean): AnnotationState => ({
  phase: "starting",
  signedOut: "never",
  name: "",
  progress: null,
  item: null,
  entry: null,
  isLoaded: false,
  mode: "best",
  attention: attention.start(0, now, visible),
  visible,
  revision: 0,
  saved: 0,
  unsavedSince: null,
  saveDue: false,
  lastSave: now,
  holdEvery: 120_000,
  inFlight: null,
  wanted: null,
  trouble: null,
  code: null,
  unsure: null,
  notice: null,
  lost: null,
})
