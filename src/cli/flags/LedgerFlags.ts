/**
 * The flags that say where a job and its ledger are.
 *
 * Guarantees: the same in every command; a password is in no message, and is refused on the command line, where
 * every user of the machine could read it.
 */
import { Config, Effect, Layer, Option } from "effect"
import { type Command, Flag } from "effect/cli"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import { LedgerReader } from "../../task/ledger/Ledger.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { shellWord } from "../output/Text.ts"
import { option, text, toggle } from "./Values.ts"

export const dirFlag = (what: string) =>
  option(
    Flag.String("dir").pipe(Flag.withAlias("d"), Flag.withFallbackConfig(Config.String("PREFSTREAM_DIR"))),
    "DIR",
    `${what} (default: ${JobFolder.defaultDirectory}) [PREFSTREAM_DIR]`,
  )

export const ledgerFlags = {
  dir: dirFlag("Job folder with ledger, rejects and dataset"),
  ledger: text(
    "ledger",
    "URL",
    "Ledger file, or postgres://user@host/database (default: DIR/ledger.db) [PREFSTREAM_LEDGER]",
  ),
  job: option(
    Flag.String("job").pipe(Flag.withFallbackConfig(Config.String("PREFSTREAM_JOB"))),
    "NAME",
    "Name of the job, if several share a database (default: default) [PREFSTREAM_JOB]",
  ),
  json: toggle("json", "Print the result as JSON on stdout"),
}

type LedgerFlags = Omit<Command.Command.Config.Infer<typeof ledgerFlags>, "json">

/** The flags that name a job to another command: those that were given, without what the environment says. */
export const givenOf = Effect.fnUntraced(function* (flags: LedgerFlags, directory: string | undefined) {
  const environment = yield* Config.option(Config.String("PREFSTREAM_JOB"))
  const job = Option.contains(environment, flags.job) ? undefined : flags.job
  const given = { dir: directory, ledger: flags.ledger, job }
  return Object.entries(given)
    .flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(value)}`]))
    .join(" ")
})

export const hasPassword = (text: string) => /^postgres(ql)?:\/\/([^/?#]*:[^/?#]*@|.*[?&]password=)/i.test(text)

/** Where a job is. */
export interface Place {
  readonly directory: string
  readonly location: LedgerLocation.LedgerLocation
  /** The flags by which another command finds the job. */
  readonly given: string
  /** The ledger, for a person. */
  readonly ledger: string
}

/** Where the flags or the environment say that the job is, or else the pipeline. */
export const placeOf = Effect.fnUntraced(function* (
  flags: LedgerFlags,
  pipeline?: LedgerLocation.LedgerSettings & { readonly directory?: string },
): Effect.fn.Return<Place, UsageError | Config.ConfigError> {
  if (flags.ledger !== undefined && hasPassword(flags.ledger)) {
    return yield* new UsageError({
      message:
        "--ledger: a password on the command line can be read by everybody on this machine: set it in PGPASSWORD, or the whole URL in PREFSTREAM_LEDGER",
    })
  }
  const directory = flags.dir ?? pipeline?.directory ?? JobFolder.defaultDirectory
  const environment = yield* Config.option(Config.Redacted("PREFSTREAM_LEDGER"))
  const location = yield* LedgerLocation.of({
    ledger: flags.ledger ?? Option.getOrElse(environment, () => pipeline?.ledger),
    job: flags.job ?? pipeline?.job,
    file: JobFolder.ledger(directory),
  }).pipe(Effect.catchTag("LedgerLocationError", ({ message }) => new UsageError({ message })))
  return {
    directory,
    location,
    given: yield* givenOf(flags, directory),
    ledger: LedgerLocation.describe(location),
  }
})

/** A ledger that must exist, read-only. */
export const existingLedger = (location: LedgerLocation.LedgerLocation) =>
  LedgerLocation.layerReadonly(location).pipe(
    Layer.catchTag("LedgerMissing", (missing) => Layer.effect(LedgerReader, Effect.fail(noSuchLedger(missing)))),
  )

/** What to do if the named ledger does not exist. */
export const noSuchLedger = ({ found, message }: LedgerLocation.LedgerMissing) =>
  new UsageError({ message: `${message}: ${advice[found]}` })

const unfinished = "if a run was killed while it created it, run the same command again; else restore a backup"

const advice: { readonly [found in LedgerLocation.LedgerMissing["found"]]: string } = {
  nothing: "name the job folder with --dir, or the ledger with --ledger",
  "empty file": unfinished,
  "incomplete tables": unfinished,
  "other jobs": "name one of them with --job",
}
