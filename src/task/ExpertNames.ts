/**
 * Replaces experts' names in votes, flags, and decisions with pseudonyms. Only the job's ledger has the key of the
 * pseudonyms. Unknown members of flags are left out, because they may contain a name. Texts by experts and data from
 * the input stay unchanged.
 */
import { Context, Effect, Option, Predicate, Schema } from "effect"
import * as ExpertKind from "../domain/ExpertKind.ts"
import { flagsIn } from "../domain/Flag.ts"
import * as Judge from "../domain/Judge.ts"
import type { Annotations } from "../domain/Task.ts"
import * as Pseudonym from "../node/Pseudonym.ts"
import { LedgerReader } from "./ledger/Ledger.ts"

/** The ledger has no key for pseudonyms, because an earlier version of prefstream wrote the ledger. */
export class ExpertKeyMissing extends Schema.TaggedError<ExpertKeyMissing>()("ExpertKeyMissing", {}) {
  override get message() {
    return "the ledger has no key for expert pseudonyms: run prefstream run, submit, collect, or import to add one, or set `expertNames` to export real names"
  }
}

/** Whether to replace names that are read from a ledger. */
export interface ExpertNames {
  /** Whether names stay as they are. */
  readonly keep: boolean
  /** Collects the experts who voted: maps each name to its pseudonym, or to itself if `keep` is set. */
  readonly voters?: Map<string, string>
}

/** By default, pseudonyms replace names. */
export const ExpertNames = Context.Reference<ExpertNames>("prefstream/task/ExpertNames", {
  defaultValue: () => ({ keep: false }),
})

/** Keeps the names, for output that stays with the team, and for code that only compares names. */
export const keepNames = Effect.provideService(ExpertNames, { keep: true })

const hasExpert = Predicate.hasProperty("expert")

const votersIn = ({ expert, votes }: Annotations): ReadonlyArray<string> =>
  (Array.isArray(votes) ? votes.map((vote: unknown) => (hasExpert(vote) ? vote.expert : null)) : [expert]).filter(
    Predicate.isString,
  )

/** If no field has the expert's kind, the name may show that the expert is automatic. A pseudonym would hide this. */
const kindByName = ({ expert, kind }: { readonly expert: unknown; readonly kind?: unknown }, ofAll?: unknown) => {
  const role =
    Predicate.isString(expert) && (ExpertKind.of(kind) ?? ExpertKind.of(ofAll)) === null
      ? Judge.roleOf(expert, null)
      : "person"
  return role === "person" ? {} : { kind: role }
}

const renamed = (annotations: Annotations, rename: (name: unknown) => unknown): Annotations => {
  const { decision, expert, flags, kind, votes } = annotations
  return {
    ...annotations,
    ...(expert !== undefined && { expert: rename(expert), ...kindByName({ expert, kind }) }),
    ...(Array.isArray(votes) && {
      votes: votes.map((vote: unknown) =>
        hasExpert(vote) ? { ...vote, expert: rename(vote.expert), ...kindByName(vote, kind) } : vote,
      ),
    }),
    ...(flags !== undefined && {
      flags: flagsIn(annotations).map(({ comment, expert, kind }) => ({
        expert: rename(expert),
        kind,
        ...(comment !== undefined && { comment }),
      })),
    }),
    ...(Predicate.hasProperty(decision, "by") && { decision: { ...decision, by: rename(decision.by) } }),
  }
}

/** `isMissing` returns true if `read` needed the key for pseudonyms, but the ledger has no such key. */
export const reader = Effect.gen(function* () {
  const { keep, voters } = yield* ExpertNames
  const key = keep ? Option.none() : yield* LedgerReader.use((ledger) => ledger.expertKey)
  const pseudonymOf = Option.match(key, { onNone: () => undefined, onSome: Pseudonym.make })
  let isMissing = false
  const rename = (name: unknown): unknown => {
    if (!Predicate.isString(name)) return name
    isMissing ||= pseudonymOf === undefined
    return pseudonymOf?.(name)
  }
  const read = (annotations: Annotations): Annotations => {
    for (const name of votersIn(annotations)) voters?.set(name, keep ? name : String(rename(name)))
    return keep ? annotations : renamed(annotations, rename)
  }
  return { read, isMissing: () => isMissing }
})
