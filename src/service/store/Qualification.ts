/**
 * Qualification: new people first judge gold items. A person who has already voted on other items is qualified. People
 * are paused if they judge too many gold items wrong. Each transaction that gives a person an item, or records a vote,
 * checks whether the person may work. `requalify` makes a person judge gold items again. In this new round, a gold item
 * comes at most once, and items that the person has never judged come first.
 */
import { Clock, Context, Effect, Layer, Random } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Audit from "../database/Audit.ts"
import { MalformedRequest } from "../../api/Problems.ts"
import { plural } from "../../io/Values.ts"
import { Database } from "../database/Database.ts"
import { toStorableText } from "../database/TaskTables.ts"
import type { Submission } from "../pageApi/AnnotateApi.ts"
import type * as Api from "../pageApi/QualificationApi.ts"
import { conflict, notFound } from "../pageApi/WebProblems.ts"
import * as Places from "./Places.ts"
import * as Standings from "./Standings.ts"
import { notHeld } from "./VoteQueueModel.ts"

export interface GoldItem {
  readonly key: string
  readonly prompt: string
  /** The distinct completions, sorted by text, so that their order in the file does not matter. */
  readonly completions: ReadonlyArray<string>
  readonly best: number
}

interface Row {
  readonly n: number
  readonly gold: string
  readonly shown_order: string
  readonly draft: string | null
}

const make = Effect.fnUntraced(function* (gold: ReadonlyArray<GoldItem> | undefined) {
  const { sql, write } = yield* Database
  const items = new Map((gold ?? []).map((item) => [item.key, item]))
  const { lastDecision, settings, standing, standingOf } = yield* Standings.make((gold ?? []).map(({ key }) => key))

  /** Returns the qualification item that the person sees now, if there is one and the gold file still has it. */
  const currentItem = Effect.fnUntraced(function* (expertNo: number) {
    const { n } = yield* lastDecision(expertNo)
    const rows = yield* sql<Row>`SELECT n, gold, shown_order, draft FROM qualification
      WHERE expert_no = ${expertNo} AND n > ${n} AND kind = 'item' AND given_at IS NULL`
    return rows.find(({ gold }) => items.has(gold))
  })

  /** Draws an item that the person has not judged, or else the item judged longest ago. */
  const draw = Effect.fnUntraced(function* (expertNo: number, random: Random.Random) {
    const judged = yield* sql<{ gold: string; last: number }>`SELECT gold, MAX(n) AS last FROM qualification
      WHERE expert_no = ${expertNo} AND kind = 'item' AND given_at IS NOT NULL GROUP BY gold`
    const last = new Map(judged.map((row) => [row.gold, row.last]))
    const fresh = [...items.values()].filter(({ key }) => !last.has(key))
    const chance = yield* Effect.provideService(Random.next, Random.Random, random)
    if (fresh.length > 0) return fresh[Math.floor(chance * fresh.length)]
    return [...items.values()].toSorted((a, b) => last.get(a.key)! - last.get(b.key)!)[0]
  })

  const next = Effect.fnUntraced(function* (expertNo: number, now: number, random: Random.Random) {
    const { guidelines, items: prompts } = (yield* settings)!
    let row = yield* currentItem(expertNo)
    if (row === undefined) {
      const item = (yield* draw(expertNo, random))!
      const order = yield* Effect.provideService(Random.shuffle(item.completions.keys()), Random.Random, random)
      const shown_order = JSON.stringify(order)
      ;[row] = yield* sql<Row>`INSERT INTO qualification ${sql.insert({
        expert_no: expertNo,
        kind: "item",
        at: now,
        gold: item.key,
        shown_order,
      })} RETURNING n, gold, shown_order, draft`
    }
    const { draft, gold, n } = row!
    const item = items.get(gold)!
    return { n, item, order: orderOf(row!), draft, guidelines: guidelines === "" ? null : guidelines, prompts }
  })

  const saveDraft = Effect.fnUntraced(function* (expertNo: number, n: number, draft: string) {
    const row = yield* currentItem(expertNo)
    if (row?.n !== n) return yield* notHeld()
    yield* sql`UPDATE qualification SET draft = ${draft} WHERE n = ${n}`
  })

  const answer = Effect.fnUntraced(function* (expertNo: number, n: number, submission: Submission, now: number) {
    const row = yield* currentItem(expertNo)
    if (row?.n !== n || (yield* standing(expertNo)).state !== "qualifying") return yield* notHeld()
    const { choice } = yield* Effect.fromResult(Places.toIndices(submission, orderOf(row))).pipe(
      Effect.mapError((detail) => new MalformedRequest({ detail })),
    )
    const correct = choice === items.get(row.gold)!.best ? 1 : 0
    yield* sql`UPDATE qualification SET choice = ${choice}, correct = ${correct}, given_at = ${now}, draft = NULL
      WHERE n = ${n}`
  })

  const judgedBy = Effect.fnUntraced(function* (expertNo: number, since: number) {
    const [row] = yield* sql<{ ever: number; since: number }>`
      SELECT COUNT(*) AS ever, COUNT(*) FILTER (WHERE given_at >= ${since}) AS since
      FROM qualification WHERE expert_no = ${expertNo} AND given_at IS NOT NULL`
    return row!
  })

  const summary = Effect.gen(function* () {
    const required = yield* settings
    const people =
      required === undefined
        ? []
        : yield* sql<{ expert_no: number; expert_id: string }>`
            SELECT expert_no, expert_id FROM expert WHERE kind = 'person' ORDER BY expert_no`
    return {
      settings: required ?? null,
      available: gold === undefined ? null : items.size,
      standings: yield* Effect.forEach(people, ({ expert_id, expert_no }) =>
        Effect.map(standingOf(expert_no, required!), ({ judged, right, state }) => ({
          expert_id,
          state,
          right,
          judged,
        })),
      ),
    } satisfies Api.Qualification
  }).pipe(Effect.withSpan("Qualification.summary"))

  const problemWith = ({ items: wanted, min_percent, pause_percent }: Api.QualificationSettings) => {
    if (wanted === 0 && pause_percent === null) return undefined
    if (gold === undefined) return "There are no gold items. Start the service with --gold FILE."
    if (wanted > items.size) {
      return `The gold file has only ${items.size} distinct ${plural(items.size, "item")}. Require at most ${items.size}, or start the service with a larger gold file.`
    }
    return wanted > 0 && pause_percent !== null && pause_percent > min_percent
      ? `The pause limit of ${pause_percent} % is above the ${min_percent} % that a person needs to qualify. Set the pause limit to at most ${min_percent} %.`
      : undefined
  }

  const set = Effect.fn("Qualification.set")(function* (required: Api.QualificationSettings) {
    const problem = problemWith(required)
    if (problem !== undefined) return yield* conflict(problem)
    const guidelines = toStorableText(required.guidelines.trim())
    yield* sql`DELETE FROM qualification_setting`
    if (required.items > 0 || required.pause_percent !== null) {
      yield* sql`INSERT INTO qualification_setting ${sql.insert({ id: 1, ...required, guidelines })}`
    }
    const { items, min_percent, pause_percent } = required
    yield* Audit.record(sql, "qualification.set", "qualification", { items, min_percent, pause_percent })
  }, write)

  const decide = Effect.fnUntraced(function* (
    kind: "admit" | "requalify",
    expertId: string,
    refuse: (required: Api.QualificationSettings | undefined) => string | undefined,
  ) {
    const at = yield* Clock.currentTimeMillis
    const [person] = yield* sql<{ expert_no: number; name: string }>`
      SELECT expert_no, name FROM expert WHERE expert_id = ${expertId} AND kind = 'person'`
    if (person === undefined) return yield* notFound("There is no such person.")
    const problem = refuse(yield* settings)
    if (problem !== undefined) return yield* conflict(problem)
    // `sqlite_sequence` has the highest vote number so far, even if this vote is void and no longer in `vote`.
    const [latest] = yield* sql<{ seq: number }>`SELECT seq FROM sqlite_sequence WHERE name = 'vote'`
    const row = { expert_no: person.expert_no, kind, at, last_vote: latest?.seq ?? 0 }
    yield* sql`INSERT INTO qualification ${sql.insert(row)}`
    yield* Audit.record(sql, `expert.${kind}`, expertId, { name: person.name })
  }, write)

  const admit = Effect.fn("Qualification.admit")((expertId: string) => decide("admit", expertId, () => undefined))

  const requalify = Effect.fn("Qualification.requalify")((expertId: string) =>
    decide("requalify", expertId, (required) =>
      required === undefined || required.items === 0
        ? "New experts need no qualification items yet. First set how many items they need."
        : undefined,
    ),
  )

  const required = yield* settings
  if (required !== undefined && required.items > items.size) {
    yield* Effect.logWarning(
      `New experts cannot qualify: the qualification requires ${required.items} gold ${plural(required.items, "item")}, but the service has only ${items.size}. Start the service with a larger gold file, or require fewer items in the dashboard.`,
    )
  }

  return { standing, next, saveDraft, answer, judgedBy, summary, set, admit, requalify }
})

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `next`
const orderOf = ({ shown_order }: Row) => JSON.parse(shown_order) as ReadonlyArray<number>

/** `PersonQueue` calls `standing`, `next`, `saveDraft`, and `answer` inside `Database.write`. */
export class Qualification extends Context.Service<Qualification, Effect.Success<ReturnType<typeof make>>>()(
  "prefstream/service/Qualification",
) {
  static readonly layer = (gold: ReadonlyArray<GoldItem> | undefined): Layer.Layer<Qualification, SqlError, Database> =>
    Layer.effect(Qualification, make(gold))
}
