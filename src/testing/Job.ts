/**
 * The job of a run: four items, and a ledger in a file. This process or a child process can submit the items. The
 * client has at most one request in flight, so that a fault affects a known request.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Redacted, References } from "effect"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import * as Source from "../source/Source.ts"
import { AnnotationClient } from "../task/client/AnnotationClient.ts"
import type { Protocol } from "../task/client/Protocol.ts"
import { Ledger } from "../task/ledger/Ledger.ts"
import * as Submit from "../task/Submit.ts"
import type { Subject } from "./Subject.ts"

/** The job, in values that JSON can represent, because a child process receives it as JSON. */
export interface TrialJob extends Pick<Subject, "completions" | "name" | "promptsPerTask" | "protocol" | "settings"> {
  readonly ledger: string
  readonly baseUrl: string
  readonly token: string
}

export const best = 'The best, "quoted" & <tagged>'

/** With two prompts per task, the best completions' indices differ between tasks, so swapped results are noticed. */
export const itemsOf = ({ completions = 2 }: Pick<Subject, "completions">) =>
  ["When?", "Wo — größer?", "<b>Why</b> & how?", "What\nis\nit?"].map((prompt, i) => {
    const right = i < 2 ? i : completions + 1 - i
    return {
      prompt,
      completions: Array.from({ length: completions }, (_, at) => (at === right ? best : `${prompt} ${at}`)),
    }
  })

export const platform = Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)

const clientOf = Effect.fnUntraced(function* ({ protocol }: TrialJob) {
  if (protocol === undefined) return AnnotationClient.layer
  const { name = "protocol", options, url } = protocol
  const module: Readonly<Record<string, unknown>> = yield* Effect.promise(() => import(String(url)))
  const value = module[name]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the module is the subject's, which says so
  return AnnotationClient.layerProtocol((typeof value === "function" ? value(options) : value) as Protocol)
})

export const layer = (job: TrialJob) =>
  Layer.unwrap(
    Effect.map(clientOf(job), (client) =>
      Layer.mergeAll(Ledger.layerFile(job.ledger), client).pipe(
        Layer.provideMerge(
          ServiceProfile.layer({
            identity: job.name,
            idempotencyKey: "ignored",
            concurrency: 1,
            requestsPerSecond: 1000,
            pollInterval: { min: "10 millis", max: "50 millis" },
            ...job.settings,
            baseUrl: job.baseUrl,
            token: Redacted.make(job.token),
          }),
        ),
      ),
    ),
  )

export const submit = (job: TrialJob) =>
  Submit.submit(Source.make(itemsOf(job)).records, {
    batch: { maxPrompts: job.promptsPerTask ?? 2, maxBytes: 1_000_000 },
    guidelines: "Prefer the completion that is correct.",
  })

export const command = (job: TrialJob): ReadonlyArray<string> => {
  const code = "const { main } = await import(process.argv[1]); main(process.argv[2])"
  return [...process.execArgv, "--input-type=module", "--eval", code, import.meta.url, JSON.stringify(job)]
}

/** Submits the job. The code in `command` calls this function in a child process. @public */
export const main = (json: string): void => {
  const job: TrialJob = JSON.parse(json)
  submit(job).pipe(
    Effect.provide(Layer.provideMerge(layer(job), platform)),
    Effect.provideService(References.MinimumLogLevel, "None"),
    NodeRuntime.runMain,
  )
}
