/** The protocols that pass the conformance suite, each with a fake of its service. */
import { Redacted } from "effect"
import type { Subject } from "prefstream/testing"
import { secrets } from "../support/webhooks.ts"
import { settings as argillaSettings } from "../../pipelines/connectors/argilla.ts"
import { settings as scaleSettings } from "../../pipelines/connectors/scale.ts"
import * as Argilla from "./argilla.ts"
import * as Contract from "./contract.ts"
import * as LabelStudio from "./labelStudio.ts"
import * as Scale from "./scale.ts"

const connector = (name: string) => new URL(`../../pipelines/connectors/${name}.ts`, import.meta.url).href

const labelStudio = { url: connector("labelStudio"), options: { project: LabelStudio.project } }
const argilla = { url: connector("argilla"), options: { dataset: Argilla.dataset } }

export const subjects: ReadonlyArray<Subject> = [
  {
    name: "contract, keys honored",
    fake: Contract.make("honored"),
    settings: { idempotencyKey: "honored" },
    webhook: { secrets },
    completions: 3,
  },
  {
    name: "contract as a protocol",
    protocol: { url: connector("contract") },
    fake: Contract.make("ignored"),
    webhook: { secrets },
  },
  { name: "contract, keys ignored", fake: Contract.make("ignored"), webhook: { secrets } },
  {
    name: "Label Studio, pairwise",
    protocol: labelStudio,
    fake: LabelStudio.make(),
    webhook: {
      scheme: { header: LabelStudio.secretHeader, digest: "none" },
      secrets: [Redacted.make(LabelStudio.secret)],
    },
  },
  {
    name: "Label Studio cloud, ranker",
    protocol: labelStudio,
    fake: LabelStudio.make({ isCloud: true }),
    completions: 3,
  },
  {
    name: "Scale",
    protocol: { url: connector("scale"), options: { project: Scale.project } },
    fake: () => Scale.make(),
    settings: scaleSettings,
    webhook: {
      scheme: { header: "scale-callback-auth", digest: "none" },
      secrets: [Redacted.make(Scale.callbackKey)],
    },
  },
  {
    name: "Argilla, label",
    protocol: argilla,
    fake: () => Argilla.make(),
    settings: argillaSettings,
    webhook: { secrets: [Redacted.make(`whsec_${Argilla.secret}`)] },
  },
  {
    name: "Argilla, ranking",
    protocol: argilla,
    fake: () => Argilla.make({ question: "ranking" }),
    settings: argillaSettings,
    completions: 3,
  },
]
