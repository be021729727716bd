/** `prefstream run` runs the whole flow. */
import { Console, Effect, Layer } from "effect"
import type { Command } from "effect/cli"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import * as Flow from "../../pipeline/Flow.ts"
import { count } from "../../io/Values.ts"
import { makeCommand } from "../flags/Definition.ts"
import { datasetFlags, datasetOf } from "../flags/DatasetFlags.ts"
import { expertFlags, expertsOf, judgeOf } from "../flags/ExpertFlags.ts"
import { scratchIn, sourceOf } from "../flags/InputFlags.ts"
import { once } from "../flags/JobFlags.ts"
import { DryRun, type Loaded } from "../flags/PipelineFile.ts"
import { limitsForPreview } from "../flags/ServiceFlags.ts"
import { itemOptionsOf } from "../flags/TaskFlags.ts"
import { webhookFlags, webhookOf } from "../flags/WebhookFlags.ts"
import { usageError } from "../output/ExitStatus.ts"
import * as Job from "./Job.ts"
import { pipelineFileOf, settingsOf, submitFlags } from "./Submit.ts"

export const runFlags = { ...submitFlags, ...webhookFlags, ...expertFlags, ...datasetFlags, once }

const trialExpert = "longest"

export const command = makeCommand(
  "run",
  "Run all steps: read items, submit them as tasks, wait for the results, and write the preference pairs. " +
    "You can stop a run at any time, and continue it by running the command again with the same job folder. " +
    "Without --base-url, the run starts a trial annotation service on this machine. " +
    "In this service, an automatic expert replaces people. --expert selects the expert. The default expert, `longest`, prefers the longest completion. " +
    "--expert or --base-url is required with --once, with --quiet, and in `prefstream schedule`.",
  runFlags,
  Effect.fn("prefstream run")(function* (commandFlags) {
    const job = yield* Job.prepare(commandFlags, yield* pipelineFileOf(commandFlags.files))
    const { flags, place } = job
    const pipeline: Loaded = job.pipeline ?? (yield* fromFlags(flags, place.directory))
    const once = flags.once ?? pipeline.once === true
    const settings = {
      ...settingsOf(job, pipeline),
      once,
      ...(yield* datasetOf(flags, pipeline)),
      webhook: yield* webhookOf(flags, once ? undefined : pipeline.webhook),
    }
    const service = yield* Job.checkedService(job, pipeline.service)
    if (flags.dryRun) return yield* Job.preview(job, { ...settings, ...(yield* limitsForPreview(flags)) })
    yield* Job.announceInput(pipeline.source, place)
    yield* Job.runAndReport(job, service, Job.savingSettings(Flow.run(settings), place), {
      judgeCache: flags.judgeCache,
      later: "run the same command again",
      newLedger: settings.newLedger,
    })
  }, Job.withJobFlags),
  {
    "prefstream run data/sample.jsonl --expert gold:data/sample.jsonl": "Try prefstream on this machine",
    "prefstream run pipelines/quickstart.ts": "Run a pipeline that is written in TypeScript",
    "prefstream run prompts.jsonl --completions a.jsonl --completions b.jsonl --key id --completion-path 'choices[0].message.content'":
      "Join prompts with the completions of two models",
    "PREFSTREAM_BASE_URL=https://host/v1 PREFSTREAM_TOKEN=... prefstream run items.jsonl --timeout 12h":
      "Send the tasks to an annotation service, and wait at most 12 hours",
    "PREFSTREAM_BASE_URL=https://host/v1 PREFSTREAM_TOKEN=... prefstream run 'items/*.jsonl' --dir job --once --quiet":
      "Each night: submit new items, and export the results so far",
  },
)

const fromFlags = Effect.fnUntraced(function* (
  flags: Command.Command.Config.Infer<typeof runFlags>,
  directory: string,
) {
  const names = flags.expert.length === 0 ? [trialExpert] : [...new Set(flags.expert)]
  const votes = flags.votes?.votesUpTo ?? flags.votes?.votes ?? 1
  if (flags.baseUrl === undefined && (flags.votes?.votesUpTo !== undefined || votes > names.length)) {
    const experts = `${count(names.length, "automatic expert")} (${names.join(", ")})`
    return yield* usageError(
      flags.votes?.votesUpTo === undefined
        ? `--votes ${votes}: an item needs ${votes} different experts, found only ${experts}. Add --expert, lower --votes, or set --base-url to a service where people judge (prefstream serve)`
        : "--votes: expected a single number, because automatic experts give the same number of votes on each item. For a range such as 2..5, set --base-url to a service where people judge (prefstream serve)",
    )
  }
  const source = yield* sourceOf(flags, scratchIn(flags, directory))
  const options = yield* itemOptionsOf(flags)
  if (flags.baseUrl === undefined && flags.expert.length === 0) {
    const unattended =
      flags.once === true ? "--once" : flags.quiet ? "--quiet" : (yield* DryRun) ? "schedule" : undefined
    if (unattended !== undefined) {
      return yield* usageError(
        `${unattended} requires an annotation service or an automatic expert: set PREFSTREAM_BASE_URL, --base-url, or --expert`,
      )
    }
    yield* Console.error(
      `No --base-url: tasks go to an embedded service, where an automatic expert prefers the ${trialExpert} completion. ` +
        "Use this expert only for trials; choose another one with --expert.",
    )
  }
  const experts = flags.baseUrl === undefined ? yield* expertsOf(names, flags) : []
  const service = Effect.promise(() => import("../../service/AnnotationService.ts")).pipe(
    Effect.map(({ layerEmbedded }) =>
      layerEmbedded({
        database: JobFolder.service(directory),
        experts,
        judge: judgeOf(flags),
        turnaround: flags.turnaround,
      }),
    ),
    Layer.unwrap,
  )
  return { ...options, directory, source, service }
})
