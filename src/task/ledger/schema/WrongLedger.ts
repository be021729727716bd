/** The reasons why a ledger cannot be used as requested. The ledger was not changed. */
import { Schema } from "effect"

/** The tasks of this ledger were sent to a different service, not to the requested one. */
export class OtherService extends Schema.TaggedError<OtherService>()("OtherService", {
  /** The identity of the service that the ledger belongs to: by default its base URL. */
  ledger: Schema.String,
  /** The identity of the requested service. */
  asked: Schema.String,
}) {
  override get message() {
    return `this job's tasks are at ${this.ledger}, not at ${this.asked}: use the earlier address or another job folder, or add \`moved: true\` if the same service has a new address`
  }
}

/** The items of this ledger were judged under other terms, and `newCampaign` was not set. */
export class TermsChanged extends Schema.TaggedError<TermsChanged>()("TermsChanged", {
  /** The campaign of the last run. */
  campaign: Schema.Int,
  /** The differences, in words. */
  changes: Schema.NonEmptyArray(Schema.String),
  /** The campaign that already has the new terms, if there is one. */
  earlier: Schema.optionalKey(Schema.Int),
}) {
  override get message() {
    const changes = this.changes.join("; ")
    return this.earlier === undefined
      ? `the settings differ from those of the last run (campaign ${this.campaign}): ${changes}. Use the earlier settings, or add \`newCampaign: true\` to judge all items again; earlier results are kept`
      : `the settings differ from those of the last run (campaign ${this.campaign}): ${changes}. Campaign ${this.earlier} already has the new settings. To continue campaign ${this.earlier}, add \`newCampaign: true\`. To continue campaign ${this.campaign}, use the settings of the last run`
  }
}

/** The ledger has no such campaign. */
export class NoSuchCampaign extends Schema.TaggedError<NoSuchCampaign>()("NoSuchCampaign", {
  /** The requested campaign. */
  campaign: Schema.Int,
  /** The campaigns of the ledger. */
  campaigns: Schema.Array(Schema.Int),
}) {
  override get message() {
    const campaignList =
      this.campaigns.length === 0 ? "it has no campaigns" : `its campaigns are ${this.campaigns.join(", ")}`
    return `the ledger has no campaign ${this.campaign}: ${campaignList}`
  }
}
