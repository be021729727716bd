/** No message contains a password. A password on the command line is refused, because other users can read it there. */
import { Effect, Layer } from "effect"
import { type Command, Flag } from "effect/cli"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import { LedgerReader } from "../../task/ledger/Ledger.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { asUsageError, type UsageError, usageError } from "../output/ExitStatus.ts"
import { shellWord } from "../output/Text.ts"
import { inGroup, isFromEnvironment, UntypedSettings } from "./Definition.ts"
import { option, text, toggle } from "./Values.ts"

export const dirFlag = (what: string) =>
  option(Flag.String("dir").pipe(Flag.withAlias("d")), "DIR", what, {
    group: "JOB",
    isEssential: true,
    path: "whole",
    default: JobFolder.defaultDirectory,
    environment: "PREFSTREAM_DIR",
  })

export const ledgerFlags = inGroup("JOB", {
  dir: dirFlag("Job folder with ledger, rejects, and dataset"),
  ledger: text("ledger", "URL", "Ledger file, or postgres://user@host/database", {
    default: "DIR/ledger.db",
    environment: "PREFSTREAM_LEDGER",
    isKept: true,
    path: "whole",
  }),
  job: option(Flag.String("job"), "NAME", "Name of the job, if several jobs share a database", {
    default: "default",
    environment: "PREFSTREAM_JOB",
    isKept: true,
  }),
  json: toggle("json", "Print the result as JSON on stdout", { isTypedOnly: true, isEssential: true }),
})

type LedgerFlags = Omit<Command.Command.Config.Infer<typeof ledgerFlags>, "json">

export const givenOf = Effect.fnUntraced(function* (flags: LedgerFlags, directory: string | undefined) {
  const untyped = yield* UntypedSettings
  const isFound = (name: string) => {
    const setting = untyped.get(name)
    return name !== "dir" && setting !== undefined && isFromEnvironment(setting)
  }
  return Object.entries({ dir: directory, ledger: flags.ledger, job: flags.job })
    .flatMap(([name, value]) => (value === undefined || isFound(name) ? [] : [`--${name} ${shellWord(value)}`]))
    .join(" ")
})

export const hasPassword = (text: string) => /^postgres(ql)?:\/\/([^/?#]*:[^/?#]*@|.*[?&]password=)/i.test(text)

export interface Place {
  readonly directory: string
  readonly location: LedgerLocation.LedgerLocation
  readonly given: string
  readonly ledger: string
}

export const placeOf = Effect.fnUntraced(function* (
  flags: LedgerFlags,
  pipeline?: LedgerLocation.LedgerSettings & { readonly directory?: string },
): Effect.fn.Return<Place, UsageError> {
  if (flags.ledger !== undefined && hasPassword(flags.ledger) && !(yield* UntypedSettings).has("ledger")) {
    return yield* usageError(
      "--ledger: all users of this machine can read a password on the command line; set the password in PGPASSWORD, or the whole URL in PREFSTREAM_LEDGER",
    )
  }
  const directory = flags.dir ?? pipeline?.directory ?? JobFolder.defaultDirectory
  const location = yield* LedgerLocation.of({
    ledger: flags.ledger ?? pipeline?.ledger,
    job: flags.job ?? pipeline?.job,
    file: JobFolder.ledger(directory),
  }).pipe(Effect.catchTag("LedgerLocationError", asUsageError))
  return { directory, location, given: yield* givenOf(flags, directory), ledger: LedgerLocation.describe(location) }
})

export const existingLedger = (location: LedgerLocation.LedgerLocation) =>
  LedgerLocation.layerReadonly(location).pipe(
    Layer.catchTag("LedgerMissing", (missing) => Layer.effect(LedgerReader, Effect.fail(noSuchLedger(missing)))),
  )

export const noSuchLedger = ({ found, message }: LedgerLocation.LedgerMissing) =>
  usageError(`${message}: ${advice[found]}`)

const unfinished =
  "if a run was killed while it created the ledger, run the same command again; otherwise restore a backup"

const advice: { readonly [found in LedgerLocation.LedgerMissing["found"]]: string } = {
  nothing: "name the job folder with --dir, or the ledger with --ledger",
  "empty file": unfinished,
  "incomplete tables": unfinished,
  "other jobs": "name one of these jobs with --job",
}
