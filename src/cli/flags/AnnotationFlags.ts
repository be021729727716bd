/**
 * The flags that say how items are put to the experts: how often, which of their completions, in which order, and among
 * which gold items.
 */
import { Effect, Option, Schema } from "effect"
import { Flag } from "effect/cli"
import * as GoldFile from "../../source/GoldFile.ts"
import { defaultSeed } from "../../task/plan/CompletionDraw.ts"
import { defaultRate, maxRate } from "../../task/plan/GoldItems.ts"
import { defaultShuffleSeed } from "../../task/ledger/Model.ts"
import type { SubmitOptions } from "../../task/Submit.ts"
import { UsageError } from "../output/ExitStatus.ts"

/** More experts than that are a poll. */
const mostVotes = 100

const Rate = Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(maxRate))

export const annotationFlags = {
  votes: Flag.Int("votes").pipe(
    Flag.withMetavar("N"),
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostVotes }))),
    Flag.withDescription(
      "Tasks that each new item is in, so that as many experts judge it; each is paid for. Items that are known keep theirs (default: 1)",
    ),
    Flag.optional,
  ),
  completionsPerItem: Flag.Int("completions-per-item").pipe(
    Flag.withMetavar("N"),
    Flag.withSchema(Schema.Int.check(Schema.isGreaterThan(1))),
    Flag.withDescription(
      "Completions sent of each item; where there are more, N are drawn, each model about as often (default: all)",
    ),
    Flag.optional,
  ),
  completionsSeed: Flag.Int("completions-seed").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription(`With --completions-per-item: seed of the draw (default: ${defaultSeed})`),
    Flag.optional,
  ),
  shuffle: Flag.Boolean("shuffle").pipe(
    Flag.withDescription(
      "Send each item's completions in an order that is drawn anew for each vote; results are told of the input's order; --no-shuffle sends them as they stand (default: true)",
    ),
    Flag.withDefault(true),
  ),
  shuffleSeed: Flag.Int("shuffle-seed").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription(`Another draw of the orders (default: ${defaultShuffleSeed})`),
    Flag.optional,
  ),
  gold: Flag.File("gold", { mustExist: true }).pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription(
      "File of prompt items with gold answers, of any format that is read as input, to be mixed in among new items: experts are measured by them, and no dataset has them",
    ),
    Flag.optional,
  ),
  goldRate: Flag.Finite("gold-rate").pipe(
    Flag.withMetavar("SHARE"),
    Flag.withSchema(Rate),
    Flag.withDescription(
      `With --gold: the share of gold items among all that experts judge, ${maxRate} at most (default: ${defaultRate})`,
    ),
    Flag.optional,
  ),
}

interface DrawFlags {
  readonly completionsPerItem: Option.Option<number>
  readonly completionsSeed: Option.Option<number>
}

export const drawOf = Effect.fnUntraced(function* ({ completionsPerItem, completionsSeed }: DrawFlags) {
  if (Option.isSome(completionsSeed) && Option.isNone(completionsPerItem)) {
    return yield* new UsageError({ message: "--completions-seed: only with --completions-per-item" })
  }
  return {
    completionsPerItem: Option.getOrUndefined(completionsPerItem),
    completionsSeed: Option.getOrUndefined(completionsSeed),
  }
})

/** What they become. Reads the gold file. */
export const annotationOf = Effect.fnUntraced(function* (
  flags: DrawFlags & {
    readonly votes: Option.Option<number>
    readonly shuffle: boolean
    readonly shuffleSeed: Option.Option<number>
    readonly gold: Option.Option<string>
    readonly goldRate: Option.Option<number>
  },
) {
  if (!flags.shuffle && Option.isSome(flags.shuffleSeed)) {
    return yield* new UsageError({ message: "--shuffle-seed: not together with --no-shuffle" })
  }
  if (Option.isSome(flags.goldRate) && Option.isNone(flags.gold)) {
    return yield* new UsageError({ message: "--gold-rate: only with --gold" })
  }
  const items = Option.isNone(flags.gold)
    ? undefined
    : yield* GoldFile.read(flags.gold.value).pipe(
        Effect.catchTag("UnusableGoldFile", ({ message }) => new UsageError({ message: `--gold: ${message}` })),
      )
  return {
    votes: Option.getOrUndefined(flags.votes),
    ...(yield* drawOf(flags)),
    shuffleSeed: flags.shuffle ? Option.getOrUndefined(flags.shuffleSeed) : false,
    gold: items === undefined ? undefined : { items, rate: Option.getOrUndefined(flags.goldRate) },
  } satisfies SubmitOptions
})
