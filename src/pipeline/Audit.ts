/** Audits judges against the votes of people in the ledger (`pair/audit`). `price` defaults to the job's prices. */
import { Effect, Option } from "effect"
import * as Prices from "../domain/Prices.ts"
import * as FieldPath from "../io/FieldPath.ts"
import * as Kinds from "../io/SettingKinds.ts"
import * as Audit from "../pair/audit/Audit.ts"
import { keepNames } from "../task/ExpertNames.ts"
import * as Results from "../task/Results.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import type { ResultsSettings } from "./DatasetSettings.ts"
import { fieldOf } from "./Leaderboard.ts"

/** Settings that select votes, and options of the audit. */
export interface AuditSettings extends ResultsSettings, Omit<Audit.AuditOptions, "by"> {
  /** A field of the items' metadata, such as `source.name`. Each of its 100 most frequent values has a row. */
  readonly by?: string | undefined
}

/** Audits the judges, using all results so far. */
export const audit = Effect.fn("Pipeline.audit")(
  function* (settings: AuditSettings) {
    yield* Kinds.check(settings, {}, [], "settings")
    const { annotationPaths, by, campaign, price, ...options } = settings
    const spending = yield* (yield* LedgerReader).spending
    const path = yield* fieldOf(by)
    return yield* Audit.of(Results.items(campaign, annotationPaths), {
      ...options,
      by: path && { field: path.text, groupOf: (metadata) => FieldPath.textAt(path, metadata) },
      price: price ?? Option.getOrUndefined(Option.map(spending, ({ prices }) => Prices.toRecord(prices))),
    })
  },
  LedgerReader.snapshot,
  keepNames,
)
