/** The qualification rules, each person's standing, and dialogs to change the rules or a standing. */
import { useState } from "preact/hooks"
import type { ExpertSummary } from "../../pageApi/ExpertsApi.ts"
import { countedGoldItems, maxLength, maxQualificationItems, proposedPercent } from "../../pageApi/PageConstants.ts"
import type { Qualification, QualificationSettings, Standing } from "../../pageApi/QualificationApi.ts"
import { ask } from "./client.ts"
import { ConfirmButton } from "./Confirm.tsx"
import { count, plural } from "./format.ts"
import { Choices, NumberField, TextArea } from "./forms.tsx"
import { Badge, Section } from "./parts.tsx"
import { For } from "./role.tsx"
import type { Label } from "./wording.ts"

const standingLabels: Readonly<Record<Exclude<Standing["state"], "working">, Label>> = {
  qualifying: { words: "Qualifying", tone: "accent" },
  unavailable: { words: "No qualification items left", tone: "warn" },
  failed: { words: "Not qualified", tone: "bad" },
  paused: { words: "Paused", tone: "bad" },
}

export const StandingBadge = ({ standing }: { readonly standing: Standing }) =>
  standing.state === "working" ? null : (
    <span>
      <Badge label={standingLabels[standing.state]} />{" "}
      <span class="muted small nowrap">
        {standing.state === "qualifying"
          ? `${count(standing.judged)} judged`
          : `${count(standing.right)} of ${count(standing.judged)} gold items right`}
      </span>
    </span>
  )

const rulesOf = ({ items, min_percent, pause_percent }: QualificationSettings) =>
  [
    items === 0
      ? "New people get work immediately."
      : `New people judge ${plural(items, "gold item")} before anything else, and get work if they judge at least ${min_percent} % of them right.`,
    pause_percent === null
      ? "Nobody is paused."
      : `People are paused if they judge less than ${pause_percent} % of their latest ${countedGoldItems.max} gold items correctly.`,
  ].join(" ")

export const QualificationSummary = ({ qualification }: { readonly qualification: Qualification }) => {
  const { available, settings } = qualification
  const lacking = settings !== null && settings.items > (available ?? 0)
  return (
    <Section
      id="qualification"
      class="card padded stack"
      title="Qualification"
      beside={
        <For role="manager">
          <QualificationButton qualification={qualification} />
        </For>
      }
    >
      <p>{settings === null ? "New people get work immediately, and nobody is paused." : rulesOf(settings)}</p>
      {lacking && (
        <p class="notice warn">
          <span>
            The service has only {plural(available ?? 0, "gold item")}, so nobody can qualify. Start the service with a
            larger gold file, require fewer items, or let people in.
          </span>
        </p>
      )}
    </Section>
  )
}

const QualificationButton = ({ qualification }: { readonly qualification: Qualification }) => {
  const { available, settings } = qualification
  const [hasItems, setHasItems] = useState((settings?.items ?? 0) > 0)
  const isPausing = settings !== null && settings.pause_percent !== null
  const [pauses, setPauses] = useState(isPausing)
  return (
    <ConfirmButton
      text="Change"
      label="Change the qualification"
      title="Qualification"
      confirm="Save"
      ask={({ number, text }) =>
        ask("PUT /qualification", {
          payload: {
            items: number("items"),
            min_percent: hasItems ? number("min_percent") : (settings?.min_percent ?? proposedPercent.qualify),
            pause_percent: pauses ? number("pause_percent") : null,
            guidelines: hasItems ? text("guidelines") : (settings?.guidelines ?? ""),
          },
        })
      }
      success="The qualification was changed."
    >
      <p class="muted small">
        {available === null
          ? "The service has no gold items. Start it with serve --gold FILE."
          : `The gold file has ${available === maxQualificationItems ? "at least " : ""}${plural(available, "different item")}. People who have already voted do not need to qualify.`}
      </p>
      <NumberField
        name="items"
        label="Gold items that a new person judges first (0: none)"
        min={0}
        max={maxQualificationItems}
        value={settings?.items ?? 0}
        onInput={(event) => setHasItems(Number(event.currentTarget.value) > 0)}
      />
      {hasItems && (
        <>
          <NumberField
            name="min_percent"
            label="Percentage of these items to judge correctly"
            min={1}
            max={100}
            value={settings?.min_percent ?? proposedPercent.qualify}
          />
          <TextArea
            name="guidelines"
            label="Guidelines shown with these items (optional, Markdown)"
            rows={4}
            maxLength={maxLength.qualificationGuidelines}
            value={settings?.guidelines}
          />
        </>
      )}
      <fieldset class="choices">
        <legend>Later</legend>
        <label>
          <input type="checkbox" checked={pauses} onChange={(event) => setPauses(event.currentTarget.checked)} />
          <span>
            Pause people who judge too many gold items incorrectly{" "}
            <span class="muted small">
              (among the latest {countedGoldItems.max}, after at least {countedGoldItems.min}; qualification items
              count)
            </span>
          </span>
        </label>
      </fieldset>
      {pauses && (
        <NumberField
          name="pause_percent"
          label="Percentage of correct judgments below which a person is paused"
          min={1}
          max={100}
          value={settings?.pause_percent ?? proposedPercent.stay}
        />
      )}
    </ConfirmButton>
  )
}

interface StandingButtonProps {
  readonly expert: ExpertSummary
  readonly settings: QualificationSettings
  readonly standing: Standing
}

export const StandingButton = ({ expert, settings, standing }: StandingButtonProps) => {
  const mayQualify = settings.items > 0
  const isWorking = standing.state === "working"
  const [again, setAgain] = useState(isWorking && mayQualify)
  const params = { expert_id: expert.expert_id }
  return (
    <ConfirmButton
      text="Qualification"
      label={`Qualification of ${expert.name}`}
      title={`Qualification of ${expert.name}`}
      confirm={again ? "Qualify again" : "Let in"}
      ask={() =>
        again
          ? ask("POST /experts/:expert_id/requalify", { params })
          : ask("POST /experts/:expert_id/admit", { params })
      }
      success={again ? `${expert.name} qualifies again.` : `${expert.name} gets work.`}
    >
      <p>
        {isWorking ? "Gets work. " : <StandingBadge standing={standing} />}
        {isWorking &&
          standing.judged > 0 &&
          `${count(standing.right)} of the latest ${plural(standing.judged, "gold item")} judged right.`}
      </p>
      <Choices
        legend="The expert’s status from now on"
        name="standing"
        value={again ? "again" : "in"}
        onChange={(value) => setAgain(value === "again")}
        options={[
          ["in", "Let in", "the expert gets work; earlier answers to gold items no longer count toward a pause"],
          ...(mayQualify
            ? [
                [
                  "again",
                  "Qualify again",
                  `the expert first judges ${plural(settings.items, "gold item")}, beginning with items that the expert has never judged`,
                ] as const,
              ]
            : []),
        ]}
      />
    </ConfirmButton>
  )
}
