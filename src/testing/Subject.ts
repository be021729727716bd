/**
 * The subject of the suite: a protocol, with a fake of its service. The fake is a real HTTP server on loopback. The
 * fake follows the service's public description, and causes no faults. If the service lists results in pages, the fake
 * should return one result per page. A protocol that reads only the first page then fails.
 */
import type { Schema } from "effect"
import type { ServiceSettings } from "../api/ServiceProfile.ts"
import type { RouteOptions } from "../task/webhook/WebhookReceiver.ts"

/** How a fake gives its results. */
export interface JudgingOptions {
  /** Whether results come in reverse order. */
  readonly reversed?: boolean | undefined
  /** Whether each result names a completion that its prompt does not have. */
  readonly wrong?: boolean | undefined
  /** Whether a task's response contains each result twice. Ignored if the service's format cannot repeat results. */
  readonly repeated?: boolean | undefined
  /** Whether a task gets the results of another task. Ignored if results contain neither prompts nor task ids. */
  readonly foreign?: boolean | undefined
}

/** A running fake of an annotation service. */
export interface FakeService {
  /** The base URL that a program would set. */
  readonly baseUrl: string
  /** The token that the fake accepts. */
  readonly token: string
  /** The prompts of all tasks, in order of creation. A prompt that occurs twice was paid for twice. */
  readonly created: () => ReadonlyArray<string>
  /** Judges all open prompts: `best` returns the index of the best completion. */
  readonly judge: (
    best: (prompt: string, completions: ReadonlyArray<string>) => number,
    options?: JudgingOptions,
  ) => void
  /** Sends the service's webhook, with the service's own headers. Default: the service has no webhooks. */
  readonly notify?: ((url: string) => Promise<void>) | undefined
  /** Returns the id of a prompt's task, to resolve an `in_doubt` task. Default: such tasks are sent again. */
  readonly taskIdOf?: ((prompt: string) => string) | undefined
  /** Stops the server. */
  readonly close: () => Promise<void>
}

/** Starts a fake service that has no tasks yet. */
export type MakeFake = () => Promise<FakeService>

/** Where a child process finds the protocol. */
export interface ProtocolModule {
  /** The URL of a module, such as `new URL("./protocol.ts", import.meta.url)`. */
  readonly url: URL | string
  /** Name of the export: a `Tasks.Protocol`, or a function that returns one. Default `protocol`. */
  readonly name?: string | undefined
  /** The argument to call the export with, if it is a function. */
  readonly options?: Schema.Json | undefined
}

/** A protocol with its settings, and a fake of its service. */
export interface Subject {
  /** The subject's name in the results. */
  readonly name: string
  /** The protocol to test. Default: the contract's protocol. */
  readonly protocol?: ProtocolModule | undefined
  /** Starts the fake. Each run of a case starts a new one. */
  readonly fake: MakeFake
  /** Settings of the service besides base URL and token, in values that JSON can represent. */
  readonly settings?: Partial<Omit<ServiceSettings, "baseUrl" | "token">> | undefined
  /** How webhooks are verified. Default: the suite leaves out the cases with webhooks. */
  readonly webhook?: RouteOptions | undefined
  /** Completions per prompt. Default 2. */
  readonly completions?: number | undefined
  /** Prompts per task. Default 2. */
  readonly promptsPerTask?: number | undefined
}
