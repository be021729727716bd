/** Experts and their counters. The commit of a vote updates the counters, so listing experts reads no votes. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import type { SqlError } from "effect/sql/SqlError"
import type { PaidRequests } from "../../domain/JudgeUsage.ts"
import * as EqualItems from "./EqualItems.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import type { ExpertQuery, ExpertSummary } from "../pageApi/ExpertsApi.ts"
import { conflict, notFound } from "../pageApi/WebProblems.ts"
import { VoteQueue } from "./VoteQueue.ts"
import { nameKey } from "../account/nameKey.ts"
import { Name } from "../pageApi/OperatorSession.ts"
import { maxInvitations, maxLength } from "../pageApi/PageConstants.ts"

export interface Row extends Pick<
  ExpertSummary,
  "expert_id" | "name" | "kind" | "created_at" | "last_seen_at" | "judged"
> {
  readonly active: number
  readonly agreed: number
  readonly compared: number
  readonly gold_right: number
  readonly gold_judged: number
}

export const toSummary = ({ agreed, compared, gold_judged, gold_right, ...row }: Row): ExpertSummary => ({
  ...row,
  active: row.active === 1,
  // A person joins by accepting an invitation, which sets `last_seen_at`.
  joined: row.kind !== "person" || row.last_seen_at !== null,
  majority: { agreed, of: compared },
  gold: { right: gold_right, of: gold_judged },
})

export const rowColumns =
  "expert_id, name, kind, active, created_at, last_seen_at, judged, agreed, compared, gold_right, gold_judged"

const touchMillis = 60_000

/** The automatic experts of this process. An expert in `outages` has failed, and is asked again at `until`. */
interface Staff {
  readonly names: ReadonlyArray<string>
  readonly outages: (now: number) => ReadonlyArray<{ readonly name: string; readonly until: number }>
  readonly doubts: () => ReadonlyArray<{ readonly expert: string; readonly name: string; readonly since: number }>
  readonly paid: Effect.Effect<ReadonlyArray<PaidRequests>, SqlError>
}

const make = Effect.gen(function* () {
  const { sql, write } = yield* Database
  const queue = yield* VoteQueue
  const equalItems = yield* EqualItems.make
  const random = yield* SecureRandom.SecureRandom

  const columns = sql.literal(rowColumns)
  let staff: Staff = { names: [], outages: () => [], doubts: () => [], paid: Effect.succeed([]) }

  const find = Effect.fn("Experts.find")(function* (expertId: string) {
    const rows = yield* sql<Row>`SELECT ${columns} FROM expert WHERE expert_id = ${expertId}`
    return Option.map(Option.fromUndefinedOr(rows[0]), toSummary)
  })

  const insert = Effect.fnUntraced(function* (expert: { expert_id: string; name: string; kind: string }, now: number) {
    // A new expert searches all open items (`item_cursor` is 0), so `returned_cursor` skips all of `returned_item`.
    const rows = yield* sql<Row>`INSERT INTO expert (expert_id, name, kind, created_at, returned_cursor)
      VALUES (${expert.expert_id}, ${expert.name}, ${expert.kind}, ${now},
        COALESCE((SELECT MAX(n) FROM returned_item), 0))
      ON CONFLICT DO UPDATE SET name = excluded.name RETURNING ${columns}`
    yield* Audit.record(sql, "expert.add", expert.expert_id, { name: expert.name })
    return toSummary(rows[0]!)
  })

  const names = sql<NamedExpert>`SELECT expert_id, name, kind, active FROM expert`

  const insertAll = Effect.fnUntraced(function* <A>(
    people: ReadonlyArray<string>,
    along: (expert: ExpertSummary) => Effect.Effect<A, SqlError>,
  ) {
    const now = yield* Clock.currentTimeMillis
    return yield* Effect.forEach(people, (name) =>
      Effect.flatMap(random.randomBytes(8), (id) =>
        Effect.flatMap(insert({ expert_id: `expert_${Hex.encode(id)}`, name, kind: "person" }, now), along),
      ),
    )
  })

  /** Adds the expert and runs `along` in one transaction. Fails with `Conflict` if an expert with this name exists. */
  const invite = Effect.fn("Experts.invite")(function* <A>(
    name: string,
    along: (expert: ExpertSummary) => Effect.Effect<A, SqlError>,
  ) {
    const same = findByName(yield* names, name)
    if (same !== undefined) return yield* conflict(nameConflict(same))
    const [added] = yield* insertAll([name], along)
    return added!
  }, write)

  const create = (name: string) => invite(name, Effect.succeed)

  const inviteAll = Effect.fn("Experts.inviteAll")(function* <A>(
    people: ReadonlyArray<ListedName>,
    along: (expert: ExpertSummary) => Effect.Effect<A, SqlError>,
  ) {
    const problem = listProblem(people, yield* names)
    if (problem !== undefined) return yield* conflict(problem)
    return yield* insertAll(
      people.map(({ name }) => name),
      along,
    )
  }, write)

  const rename = Effect.fn("Experts.rename")(function* (expertId: string, name: string) {
    const all = yield* names
    const expert = all.find(({ expert_id }) => expert_id === expertId)
    if (expert === undefined) return yield* notFound("There is no such expert.")
    if (expert.kind !== "person")
      return yield* conflict("The names of automatic experts come from the service’s configuration.")
    const same = findByName(
      all.filter(({ expert_id }) => expert_id !== expertId),
      name,
    )
    if (same !== undefined) return yield* conflict(`An expert named ${same.name} already exists. Enter another name.`)
    const rows = yield* sql<Row>`UPDATE expert SET name = ${name} WHERE expert_id = ${expertId} RETURNING ${columns}`
    if (name !== expert.name) yield* Audit.record(sql, "expert.rename", expertId, { name, was: expert.name })
    return toSummary(rows[0]!)
  }, write)

  const ensure = Effect.fn("Experts.ensure")(function* (name: string, kind: "judge" | "automatic" = "automatic") {
    const now = yield* Clock.currentTimeMillis
    return yield* write(insert({ expert_id: name, name, kind }, now))
  })

  const list = Effect.fn("Experts.list")(function* ({ kind }: ExpertQuery = {}) {
    const filter = kind === undefined ? sql`1` : sql`kind = ${kind}`
    return (yield* sql<Row>`SELECT ${columns} FROM expert WHERE ${filter} ORDER BY expert_no`).map(toSummary)
  })

  const setActive = Effect.fn("Experts.setActive")(function* (
    expertId: string,
    active: boolean,
    along: Effect.Effect<void, SqlError> = Effect.void,
  ) {
    const rows = yield* write(
      Effect.gen(function* () {
        const rows = yield* sql<Row>`
          UPDATE expert SET active = ${active} WHERE expert_id = ${expertId} RETURNING ${columns}`
        const [expert] = rows
        if (expert !== undefined) {
          yield* Audit.record(sql, active ? "expert.activate" : "expert.deactivate", expertId, { name: expert.name })
        }
        yield* along
        // Activating or deactivating an automatic expert changes who may judge, so all automatic experts search again.
        if (rows.some(({ kind }) => kind !== "person")) queue.reconsiderAll()
        if (rows[0]?.kind === "person" && !active) yield* equalItems.awaitFewer
        return rows
      }),
    )
    // The expert is inactive now and gets no new items. So this call releases every item that the expert holds.
    if (!active) yield* queue.release(expertId)
    return Option.map(Option.fromUndefinedOr(rows[0]), toSummary)
  }, Effect.uninterruptible)

  const touch = Effect.fn("Experts.touch")(function* (expertId: string) {
    const now = yield* Clock.currentTimeMillis
    const seen = yield* sql`SELECT 1 FROM expert
      WHERE expert_id = ${expertId} AND COALESCE(last_seen_at, 0) <= ${now - touchMillis}`
    if (seen.length > 0)
      yield* write(sql`UPDATE expert SET last_seen_at = ${now}, away = 0 WHERE expert_id = ${expertId}`)
  })

  /** Sets the automatic experts of this process. All other automatic experts are `away`: items do not wait for them. */
  const employ = (automatic: Staff) => {
    staff = automatic
    return write(sql`UPDATE expert SET away = expert_id NOT IN (SELECT value FROM json_each(${JSON.stringify(automatic.names)}))
      WHERE kind <> 'person'`)
  }

  return { employ, staff: () => staff, create, invite, inviteAll, rename, ensure, list, find, setActive, touch }
})

export class Experts extends Context.Service<Experts, Effect.Success<typeof make>>()("prefstream/service/Experts") {
  static readonly layer: Layer.Layer<Experts, SqlError, Database | VoteQueue> = Layer.effect(Experts, make).pipe(
    Layer.provide(SecureRandom.layerWebCrypto),
  )
}

interface NamedExpert extends Pick<ExpertSummary, "expert_id" | "name" | "kind"> {
  readonly active: number
}

interface ListedName {
  readonly name: string
  readonly line: number
}

const maxProblems = 20

const isName = Schema.is(Name)

/** `nameKey` decides which names are equal. Latin and Cyrillic letters count as different. */
const findByName = (existing: ReadonlyArray<NamedExpert>, name: string): NamedExpert | undefined =>
  existing.find((other) => nameKey(other.name) === nameKey(name))

const nameConflict = ({ active, kind, name }: NamedExpert): string => {
  if (kind !== "person") return `An automatic expert is named ${name}. Enter another name.`
  return `An expert named ${name} already exists. ${active === 1 ? "Make a new link for" : "Activate"} this expert, or enter another name.`
}

const listProblem = (list: ReadonlyArray<ListedName>, existing: ReadonlyArray<NamedExpert>): string | undefined => {
  if (list.length === 0) return "The list has no names."
  if (list.length > maxInvitations) {
    return `The list has ${list.length} names, but at most ${maxInvitations} people can be invited at once.`
  }
  const byName = new Map(existing.map(({ name }) => [nameKey(name), name]))
  const lines = new Map<string, number>()
  const problems = list.flatMap(({ line, name }) => {
    const key = nameKey(name)
    const [owner, earlier] = [byName.get(key), lines.get(key)]
    lines.set(key, earlier ?? line)
    if (!isName(name)) {
      return [
        `Line ${line}: a name has at most ${maxLength.name} characters, at least one visible character, and no control characters.`,
      ]
    }
    if (owner !== undefined) return [`Line ${line}: an expert named ${owner} already exists.`]
    return earlier === undefined ? [] : [`Line ${line}: ${name} is already in line ${earlier}.`]
  })
  if (problems.length === 0) return undefined
  const more = problems.length - maxProblems
  return `Nobody was invited. ${problems.slice(0, maxProblems).join(" ")}${more > 0 ? ` Problems not shown: ${more}.` : ""}`
}
