/**
 * Turns judgments into preference pairs: a `PairStrategy` for one judgment, `Curation` for a stream of items.
 * `byMajority` and `byProbability` combine votes, `leaderboard` rates models, and `audit` compares judges with people.
 * The same judgments give the same pairs and numbers.
 */
export {
  type CheckName,
  dropNames,
  type DropName,
  type OwnCheck,
  OwnCheckFailed,
  type Thresholds,
  names as checkNames,
} from "./Checks.ts"
export * as Curation from "./Curation.ts"
export {
  bestAgainstOne,
  bestAgainstRest,
  fullRanking,
  named as strategy,
  type PairStrategy,
  type StrategySettings,
} from "./PairStrategy.ts"
export type { JudgedItem, Judgment } from "../domain/Judgment.ts"
export type { PreferencePair } from "../domain/PreferencePair.ts"
export type { Distribution, Histogram } from "../domain/Distribution.ts"
export type {
  Accrual,
  AccrualPoint,
  ControlRow,
  Estimate,
  Leaderboard,
  LeaderboardMethod,
  LeaderboardRow,
} from "../domain/Leaderboard.ts"
export type {
  Audit,
  AuditAgreement,
  AuditPolicies,
  AuditPolicy,
  AuditRater,
  AuditEstimate,
  AuditSlice,
} from "../domain/Audit.ts"
export { type AuditOptions, of as audit } from "./audit/Audit.ts"
export type {
  Agreement,
  Check,
  Example,
  ExpertRow,
  FlagReport,
  FunnelStep,
  GoldReport,
  GoldVotes,
  LanguageRow,
  Length,
  ModelRow,
  Position,
  Rankings,
} from "../domain/QualityReport.ts"
export type { AspectReport, RubricReport, StrengthReport } from "../domain/RubricReport.ts"
export { type LeaderboardOptions, of as leaderboard } from "./rating/Leaderboard.ts"
export * as Language from "./text/Language.ts"
export type { SearchFailed } from "./text/NearDuplicates.ts"
export type { ScratchFileFailed } from "../node/ScratchFile.ts"
export type { ThreadFailed } from "../node/Thread.ts"
export * as Splits from "./text/Splits.ts"
export { byMajority, byProbability, type Consensus, withVotes } from "./votes/Consensus.ts"
export type { ItemVote } from "./votes/ItemVotes.ts"
export { of as reliabilities, type Reliabilities, type ReliabilityOptions } from "./votes/Reliabilities.ts"
