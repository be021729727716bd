/**
 * The flags that say where the ledger is, and what they become.
 *
 * Guarantees: in every command the same; a password stands in no message, and is refused
 * where every user of the machine could read it, on the command line.
 */
import { Config, Effect, Layer, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import * as JobFolder from "../../pipeline/JobFolder.ts"
import { LedgerReader } from "../../task/ledger/Ledger.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { UsageError } from "../output/ExitStatus.ts"
import { word } from "../output/Summary.ts"

export const ledgerFlags = {
  ledger: Flag.String("ledger").pipe(
    Flag.withMetavar("URL"),
    Flag.withDescription(
      "Where the ledger is: a file, or a PostgreSQL database, postgres://user@host/database, its password in PGPASSWORD (default: ledger.db in the job folder) [PREFSTREAM_LEDGER]",
    ),
    Flag.optional,
  ),
  partition: Flag.String("partition").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription(
      "Partition of the ledger, so that several jobs may stand in one database (default: default) [PREFSTREAM_PARTITION]",
    ),
    Flag.withFallbackConfig(Config.String("PREFSTREAM_PARTITION")),
    Flag.optional,
  ),
}

interface LedgerFlags {
  readonly ledger: Option.Option<string>
  readonly partition: Option.Option<string>
}

/** The flags that name a job to another command: those that were given, not what the environment says to it, too. */
export const givenOf = Effect.fnUntraced(function* (flags: LedgerFlags, directory: Option.Option<string>) {
  const environment = yield* Config.option(Config.String("PREFSTREAM_PARTITION"))
  const partition = Option.filter(flags.partition, (name) => !Option.contains(environment, name))
  const given = { dir: directory, ledger: flags.ledger, partition }
  return Object.entries(given)
    .flatMap(([name, value]) => (Option.isSome(value) ? [`--${name} ${word(value.value)}`] : []))
    .join(" ")
})

/** Where a job is, for its summary. */
export const placeOf = Effect.fnUntraced(function* (
  flags: LedgerFlags,
  directory: string,
  location: LedgerLocation.LedgerLocation,
) {
  const given = yield* givenOf(flags, Option.some(directory))
  return { directory, given, ledger: LedgerLocation.describe(location) }
})

const hasPassword = (text: string) => /^postgres(ql)?:\/\/([^/?#]*:[^/?#]*@|.*[?&]password=)/i.test(text)

/** Where the flags or the environment say that the ledger is, or else the pipeline, or else the job folder. */
export const ledgerOf = Effect.fnUntraced(function* (
  flags: LedgerFlags,
  directory: string,
  pipeline?: LedgerLocation.LedgerSettings,
) {
  if (Option.isSome(flags.ledger) && hasPassword(flags.ledger.value)) {
    return yield* new UsageError({
      message:
        "--ledger: a password on the command line can be read by everybody on this machine: set it in PGPASSWORD, or the whole URL in PREFSTREAM_LEDGER",
    })
  }
  const environment = yield* Config.option(Config.Redacted("PREFSTREAM_LEDGER"))
  const given = Option.firstSomeOf([Option.map(flags.ledger, (text) => Redacted.make(text)), environment])
  return yield* LedgerLocation.of({
    ledger: Option.getOrElse(given, () => pipeline?.ledger),
    partition: Option.getOrElse(flags.partition, () => pipeline?.partition),
    file: JobFolder.ledger(directory),
  }).pipe(Effect.catchTag("LedgerLocationError", ({ message }) => new UsageError({ message })))
})

/** A ledger that must be there already, to look at. */
export const existingLedger = (location: LedgerLocation.LedgerLocation) =>
  LedgerLocation.layerReadonly(location).pipe(
    Layer.catchTag("LedgerMissing", (missing) => Layer.effect(LedgerReader, Effect.fail(misnamed(missing)))),
  )

/** What to do where a ledger is named that is not there. */
export const misnamed = ({ message, partitions }: LedgerLocation.LedgerMissing) =>
  new UsageError({
    message: `${message}: name ${partitions.length === 0 ? "the job folder with --dir, or the ledger with --ledger" : "one of them with --partition"}`,
  })
