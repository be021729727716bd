/** This file imports little, so that commands for a job start quickly. */
import { Schema } from "effect"

/** An invalid setting of a pipeline, or option of a function. It is reported before anything is submitted. */
export class SettingInvalid extends Schema.TaggedError<SettingInvalid>()("SettingInvalid", {
  /** The name of the setting, such as `thresholds.longer-chosen`. */
  setting: Schema.String,
  /** A description of the allowed values. */
  expected: Schema.String,
  /** The value that was given, as text. */
  found: Schema.String,
}) {
  override get message() {
    return `${this.setting}: expected ${this.expected}, found ${this.found}`
  }
}
