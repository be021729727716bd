/** Why a ledger cannot be used as it was asked to be; nothing was changed in it. */
import { Schema } from "effect"

/** The tasks of this ledger are at another service than the one that is to be asked. */
export class OtherService extends Schema.TaggedError<OtherService>()("OtherService", {
  /** Where the tasks are. */
  ledger: Schema.String,
  asked: Schema.String,
}) {
  override get message() {
    return `the tasks of this job are at ${this.ledger}, not at ${this.asked}: set the address back, or use another job folder, or say --moved if it is the same service at a new address`
  }
}

/** The items of this ledger were judged with other settings, and no new campaign was requested. */
export class TermsChanged extends Schema.TaggedError<TermsChanged>()("TermsChanged", {
  /** The campaign that the ledger is in. */
  campaign: Schema.Int,
  /** What differs, in words. */
  changes: Schema.NonEmptyArray(Schema.String),
  /** The campaign that had these terms. */
  earlier: Schema.optionalKey(Schema.Int),
}) {
  override get message() {
    const changes = this.changes.join("; ")
    return this.earlier === undefined
      ? `the settings differ from the last run's (campaign ${this.campaign}): ${changes}. Use the earlier settings, or add --new-campaign to judge all items anew; earlier results are kept`
      : `the settings differ from the last run's (campaign ${this.campaign}): ${changes}. They are those of campaign ${this.earlier}. Use the settings of campaign ${this.campaign}, or add --new-campaign to return to campaign ${this.earlier}`
  }
}

/** No run over this ledger was in that campaign. */
export class NoSuchCampaign extends Schema.TaggedError<NoSuchCampaign>()("NoSuchCampaign", {
  /** The one that was asked for. */
  campaign: Schema.Int,
  /** Those that there are. */
  campaigns: Schema.Array(Schema.Int),
}) {
  override get message() {
    const known = this.campaigns.length === 0 ? "it has none" : `it has ${this.campaigns.join(", ")}`
    return `the ledger has no campaign ${this.campaign}: ${known}`
  }
}
