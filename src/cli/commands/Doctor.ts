/** `prefstream doctor` checks what a job needs. It changes no ledger. Only `--try-task new` sends a task. */
import process from "node:process"
import { Clock, Console, Effect, FileSystem, Layer, Path, Redacted, Struct } from "effect"
import { CliOutput, Command } from "effect/cli"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as Authorization from "../../api/Authorization.ts"
import * as ContractSettings from "../../api/ContractSettings.ts"
import { defaults } from "../../api/ServiceProfile.ts"
import * as HttpFailure from "../../io/HttpFailure.ts"
import { statusText } from "../../node/StatusText.ts"
import { version } from "../../node/Version.ts"
import { noAnswer } from "../../task/client/AnnotationClientError.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { makeCommand } from "../flags/Definition.ts"
import { datasetOf } from "../flags/DatasetFlags.ts"
import { ledgerFlags, placeOf } from "../flags/LedgerFlags.ts"
import { check } from "../flags/FlagCombinations.ts"
import { addressOf, fromEnvironment, type ServiceFlags, serviceFlags } from "../flags/ServiceFlags.ts"
import { itemFlags, itemOptionsOf } from "../flags/TaskFlags.ts"
import { text } from "../flags/Values.ts"
import { webhookFlags } from "../flags/WebhookFlags.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { failed, type Finding, notChecked, type State, timeLimit } from "../output/Finding.ts"
import { duration, inOneLine, printable } from "../output/Text.ts"
import * as Settings from "../settings/Settings.ts"
import { runFlags } from "./Run.ts"
import { tryTask } from "./TryTask.ts"
import { webhook } from "./WebhookCheck.ts"

/** In milliseconds: half of the time difference that the webhook receiver tolerates by default. */
const maxClockDifference = 150_000

export const command = makeCommand(
  "doctor",
  "Check what a job needs: Node, settings, ledger, the service's address and token, and this machine's clock. With --listen, also send a signed test webhook to the receiver. Reports how to fix each problem; exits with 1 if a check fails. Sends no items, except with --try-task.",
  {
    ...serviceFlags,
    tryTask: text(
      "try-task",
      "new|TASK_ID",
      "Send one small, billable task (--try-task new), or poll an earlier task again (TASK_ID)",
      { isTypedOnly: true, group: "SERVICE" },
    ),
    taskType: itemFlags.taskType,
    ...webhookFlags,
    webhookUrl: text("webhook-url", "URL", "Public webhook URL to which the test delivery is sent", {
      default: "the --listen address",
    }),
    ...ledgerFlags,
  },
  Effect.fn("prefstream doctor")(function* (commandFlags) {
    if (commandFlags.listen === undefined && (yield* Settings.Current).parsed?.given.has("webhook-url")) {
      return yield* ExitStatus.usageError("--webhook-url requires --listen, which receives the test delivery")
    }
    const flags = yield* Effect.result(fromEnvironment(commandFlags))
    const findings = [
      { name: "Node", state: "ok", message: process.versions.node } as const,
      yield* settings(Struct.omit(commandFlags, ["taskType"])),
      yield* ledger(commandFlags),
      ...(flags._tag === "Success"
        ? [...(yield* service(flags.success)), ...(yield* tryTask(flags.success))]
        : unavailable(flags.failure)),
      yield* webhook(commandFlags),
    ]
    if (commandFlags.json) yield* Console.log(JSON.stringify(findings))
    else {
      for (const { message, name, state } of findings) {
        yield* Console.log(printable(`${name.padEnd(10)}${state.padEnd(13)}${message}`))
      }
    }
    if (findings.some(({ state }) => state === "failed")) {
      return yield* new ExitStatus.Finished({ status: ExitStatus.failure })
    }
  }),
  {
    "PREFSTREAM_BASE_URL=https://host/v1 PREFSTREAM_TOKEN=... prefstream doctor": "Before a first run",
    "prefstream doctor --listen 8485 --webhook-url https://hooks.example/webhook":
      "Check that a proxy forwards webhooks unchanged",
  },
)

const settings = Effect.fnUntraced(
  function* (flags: object) {
    const { problem, project } = yield* Settings.Current
    if (problem !== undefined) return failed("settings", problem)
    yield* check(flags, {})
    yield* checkRun
    const message = project === undefined ? `no ${Settings.fileName} found` : project.file
    return { name: "settings", state: "ok", message } as const
  },
  Effect.catch((failure) => Effect.succeed(failed("settings", failure))),
)

const checkRun = Effect.gen(function* () {
  const run = makeCommand(
    "run",
    "",
    runFlags,
    Effect.fnUntraced(function* (commandFlags) {
      const flags = yield* Effect.orElseSucceed(fromEnvironment(commandFlags), () => commandFlags)
      yield* check(flags)
      yield* datasetOf(flags)
      yield* itemOptionsOf(flags)
    }),
  )
  const root = Command.make("prefstream").pipe(Command.withSubcommands([run]))
  const settings = yield* Settings.of(["run"], root)
  yield* Command.runWith(root, { version })(["run"]).pipe(
    Effect.catchTag("ShowHelp", ({ errors }) => {
      const message = errors.map(({ message }) => inOneLine(message)).join("; ")
      return ExitStatus.usageError(message)
    }),
    Effect.catchTag("UsageError", ({ message }) =>
      Effect.fail(ExitStatus.usageError(Settings.withSources(message, settings))),
    ),
    Settings.provide(settings),
    Effect.provideService(CliOutput.Presenter, { present: () => Effect.void }),
  )
})

const existing = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  let parent = path.resolve(folder)
  while (!(yield* fs.exists(parent))) parent = path.dirname(parent)
  return parent
})

const ledger = Effect.fnUntraced(
  function* (
    flags: Parameters<typeof placeOf>[0],
  ): Effect.fn.Return<Finding, unknown, FileSystem.FileSystem | Path.Path> {
    const name = "ledger"
    const { directory, ledger, location } = yield* placeOf(flags)
    const missing = yield* Effect.scoped(Layer.build(LedgerLocation.layerReadonly(location))).pipe(
      Effect.as(undefined),
      Effect.catchTag("LedgerMissing", (missing) => Effect.succeed(missing)),
    )
    if (missing === undefined) return { name, state: "ok", message: ledger }
    if (location._tag === "Postgres") {
      return {
        name,
        state: "ok",
        message: `the database answers, and the first run will create the ledger (${missing.message})`,
      }
    }
    const fs = yield* FileSystem.FileSystem
    const folder = yield* existing(directory)
    yield* fs.access(folder, { writable: true })
    return { name, state: "ok", message: `the first run will create ${ledger}` }
  },
  Effect.catch((failure) => Effect.succeed(failed("ledger", failure))),
)

const unavailable = (failure: unknown): ReadonlyArray<Finding> => [
  failed("service", failure),
  notChecked("clock", "the service did not answer"),
]

const service = Effect.fnUntraced(function* (flags: ServiceFlags) {
  const { authorization = defaults.authorization, pollRequest = defaults.pollRequest } = flags
  const { path } = ContractSettings.requestOf(pollRequest, "prefstream-doctor")
  const addressResult = yield* Effect.result(addressOf(flags))
  if (addressResult._tag === "Failure") return unavailable(addressResult.failure)
  const address = addressResult.success
  if (address === undefined) {
    const message = "no base URL: a run starts its own service; to use another service, set PREFSTREAM_BASE_URL"
    return [notChecked("service", message), notChecked("clock", "no service clock to compare with")]
  }
  const ask = (token: Redacted.Redacted<string> | undefined) =>
    HttpClientRequest.get(address.baseUrl.replace(/\/+$/, "") + path).pipe(
      (request) => (token === undefined ? request : Authorization.of({ authorization })(request, token)),
      HttpClientRequest.acceptJson,
      HttpClient.execute,
      Effect.timeout(timeLimit),
    )
  const before = yield* Clock.currentTimeMillis
  const wrongToken = Redacted.make("prefstream-doctor")
  const responses = yield* Effect.result(Effect.all([ask(address.token), ask(wrongToken), ask(undefined)]))
  if (responses._tag === "Failure") {
    const { detail } = noAnswer(responses.failure)
    const message = `${address.baseUrl}: ${detail}: check the address, proxy, and firewall`
    return [{ name: "service", state: "failed", message } as const, notChecked("clock", "the service did not answer")]
  }
  const after = yield* Clock.currentTimeMillis
  const [answer, ...others] = responses.success
  return [answered(address.baseUrl, answer, others), clock(answer.headers["date"], before, after)]
})

const answered = (
  baseUrl: string,
  { headers, status }: HttpClientResponse.HttpClientResponse,
  [toWrongToken, toNoToken]: readonly [HttpClientResponse.HttpClientResponse, HttpClientResponse.HttpClientResponse],
): Finding => {
  const of = (state: State, message: string): Finding => ({ name: "service", state, message: `${baseUrl}: ${message}` })
  const whereItEnds = "the base URL must end before /tasks, as in https://host/v1"
  const kind = HttpFailure.kindOf(status)
  if (kind === "notFound") {
    if (!/json/.test(headers["content-type"] ?? "")) {
      return of("failed", `answers ${statusText(status)}, but does not look like an annotation service: ${whereItEnds}`)
    }
    if (toNoToken.status === status) {
      return of(
        "warning",
        `the service gives the same answer with and without a token. If the service requires a token, check the base URL: ${whereItEnds}`,
      )
    }
    return toWrongToken.status === status
      ? of("warning", "accepts any token, even a wrong one")
      : of("ok", "answers, and accepts the token")
  }
  if (kind === "unauthorized")
    return of("failed", `refuses the token (${status}): set a valid token in PREFSTREAM_TOKEN`)
  if (kind === "rateLimited")
    return of("warning", "is limiting the request rate (429), so the token was not checked; try again later")
  if (kind === "blocked" && status !== 426) {
    const whose = status === 407 ? "the proxy" : "the service"
    return of("failed", `refuses every request (${statusText(status)}): resolve the cause with ${whose}`)
  }
  if (kind === "serverError" || kind === "timeout" || kind === "tooEarly")
    return of("failed", `is unavailable (${statusText(status)}): a run would wait for it (--patience)`)
  return of("failed", `answers ${statusText(status)} for a task that does not exist (expected 404): check the base URL`)
}

const clock = (date: string | undefined, before: number, after: number): Finding => {
  const name = "clock"
  const serviceMillis = Date.parse(date ?? "")
  if (Number.isNaN(serviceMillis))
    return { name, state: "not checked", message: "the service's answer has no Date header" }
  const difference = Math.max(0, serviceMillis - after, before - (serviceMillis + 1000))
  if (difference <= maxClockDifference) return { name, state: "ok", message: "agrees with the service's clock" }
  const message = `differs from the service's clock by ${duration(difference / 1000)}, so webhooks would be refused as too old or too new: synchronize this machine's clock with NTP`
  return { name, state: "failed", message }
}
