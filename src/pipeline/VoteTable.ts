/**
 * All votes of a ledger as JSON Lines or CSV, with real names or `pseudonyms`. From this table, `prefstream import`
 * makes a ledger that gives the same pairs. If a result has several votes, its flags and decisions are written, but
 * no other annotations.
 */
import { Array as Arr, Effect, Stream } from "effect"
import * as Decision from "../domain/Decision.ts"
import * as ExpertKind from "../domain/ExpertKind.ts"
import { flagsIn } from "../domain/Flag.ts"
import type { JudgedItem, Judgment } from "../domain/Judgment.ts"
import { completionsOf } from "../domain/PromptItem.ts"
import { onePerExpert } from "../domain/Vote.ts"
import * as VoteRow from "../domain/VoteRow.ts"
import * as Kinds from "../io/SettingKinds.ts"
import * as SpreadsheetCell from "../io/SpreadsheetCell.ts"
import * as ItemVotes from "../pair/votes/ItemVotes.ts"
import { ExpertNames } from "../task/ExpertNames.ts"
import * as Results from "../task/Results.ts"
import type { ResultsSettings } from "./DatasetSettings.ts"
import { isoOf } from "./RunReport.ts"

const isShuffled = (order: ReadonlyArray<number>): boolean => order.some((index, at) => index !== at)

const decisionIn = (judgment: Judgment, { judgments }: Pick<JudgedItem, "judgments">) => {
  const { annotations, bestCompletionIndex, completions } = judgment
  const decision = Decision.readIn(annotations, bestCompletionIndex)
  if (decision !== undefined || judgments.length > 1) return decision
  return Decision.ofService(annotations, bestCompletionIndex, completions, onePerExpert(ItemVotes.recordedIn(judgment)))
}

const rowsOf = (judgment: Judgment, item: JudgedItem) => {
  const { annotations, asMessages, completedAt, completions, order } = judgment
  const flags = flagsIn(annotations)
  const ofItem = {
    item_id: judgment.itemId,
    prompt: judgment.prompt,
    completions: completionsOf({ completions, as_messages: asMessages }),
    models: judgment.models ?? null,
    tools: judgment.tools ?? null,
    task_id: judgment.taskId,
    is_gold: judgment.isCheck,
    gold: judgment.gold ?? null,
    flags: flags.length === 0 ? null : flags,
    decision: decisionIn(judgment, item) ?? null,
    metadata: judgment.metadata ?? null,
  }
  const ofAll = {
    ...(isShuffled(order) && { order }),
    ...(completedAt !== undefined && { judged_at: isoOf(completedAt) }),
  }
  const kindOfAll = ExpertKind.of(annotations["kind"])
  return ItemVotes.recordedIn(judgment).map((vote) => {
    const kind = ExpertKind.of(vote.kind) ?? kindOfAll
    return { ofItem, vote: { ...ofAll, ...vote, ...(kind !== null && { kind }) } }
  })
}

/** Settings of a vote table. */
export interface TableSettings extends ResultsSettings {
  /** Whether to replace experts' names with pseudonyms, for a table that others may see. Default false. */
  readonly pseudonyms?: boolean | undefined
}

/** The votes of a campaign's items, in the order of the items and of the votes. */
export const rows = (settings: TableSettings = {}) =>
  Stream.unwrap(Effect.map(Kinds.check(settings, {}), () => rowsBy(settings)))

const rowsBy = ({ annotationPaths, campaign, pseudonyms = false }: TableSettings) =>
  Results.items(campaign, annotationPaths).pipe(
    Stream.chunks,
    Stream.map((items) =>
      items.flatMap((item) =>
        item.judgments
          .flatMap((judgment) => rowsOf(judgment, item))
          .map(({ ofItem, vote }, i) => VoteRow.of(ofItem, vote, i + 1)),
      ),
    ),
    Stream.filter(Arr.isArrayNonEmpty),
    Stream.flattenArray,
    Stream.provideService(ExpertNames, { keep: !pseudonyms }),
  )

/** @param isRaw whether CSV keeps a text unchanged even if a spreadsheet would read it as a formula. Default false. */
export const text = (format: VoteRow.Format, settings: TableSettings & { readonly isRaw?: boolean } = {}) =>
  Stream.unwrap(Effect.map(Kinds.check(settings, {}), () => textBy(format, settings)))

const textBy = (format: VoteRow.Format, { isRaw = false, ...settings }: NonNullable<Parameters<typeof text>[1]>) =>
  Stream.concat(
    Stream.succeed(VoteRow.headOf(format, isRaw)),
    rows(settings).pipe(
      Stream.mapArray((rows) => [
        VoteRow.encode(format, format === "csv" && !isRaw ? rows.map(SpreadsheetCell.neutralizeTexts) : rows, isRaw),
      ]),
    ),
  )
