/** What people must judge before they get work, who is paused, and the dialogs that change it. */
import { useContext, useId, useState } from "preact/hooks"
import type { ExpertSummary } from "../../pageApi/DashboardApi.ts"
import type { Qualification, QualificationSettings, Standing } from "../../pageApi/QualificationApi.ts"
import { Confirm } from "./Confirm.tsx"
import { count, plural } from "./format.ts"
import { Say } from "./hooks.ts"
import { Badge } from "./parts.tsx"
import * as client from "./qualificationClient.ts"
import { For } from "./role.tsx"
import type { Label } from "./wording.ts"

const standingLabels: Readonly<Record<Exclude<Standing["state"], "working">, Label>> = {
  qualifying: { words: "Qualifying", tone: "accent" },
  unavailable: { words: "No items to qualify", tone: "warn" },
  failed: { words: "Not qualified", tone: "bad" },
  paused: { words: "Paused", tone: "bad" },
}

/** Nothing for a person who gets work. */
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
      ? "New people get work at once."
      : `New people judge ${plural(items, "gold item")} before anything else, and get work if ${min_percent} % are right.`,
    pause_percent === null
      ? "Nobody is paused."
      : `Who judges less than ${pause_percent} % of the latest 20 gold items right is paused.`,
  ].join(" ")

export const QualificationSummary = ({
  qualification,
  onChange,
}: {
  readonly qualification: Qualification
  readonly onChange: () => void
}) => {
  const { available, settings } = qualification
  const lacking = settings !== null && settings.items > (available ?? 0)
  return (
    <section class="card padded stack" aria-labelledby="qualification">
      <div class="row heading">
        <h2 id="qualification" tabIndex={-1}>
          Qualification
        </h2>
        <For role="manager">
          <button type="button" class="button compact" aria-label="Change the qualification" onClick={onChange}>
            Change
          </button>
        </For>
      </div>
      <p>{settings === null ? "New people get work at once, and nobody is paused." : rulesOf(settings)}</p>
      {lacking && (
        <p class="notice warn">
          <span>
            The service has {plural(available ?? 0, "gold item")}: nobody can qualify. Start it with a gold file that
            has as many as are asked for, ask for fewer, or let people in.
          </span>
        </p>
      )}
    </section>
  )
}

const Percent = ({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        class="input"
        id={id}
        type="number"
        min={1}
        max={100}
        required
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  )
}

export const QualificationDialog = ({
  qualification: { available, settings },
  onClose,
  reload,
}: {
  readonly qualification: Qualification
  readonly onClose: () => void
  readonly reload: () => void
}) => {
  const [items, setItems] = useState(String(settings?.items ?? 0))
  const [min, setMin] = useState(String(settings?.min_percent ?? 80))
  const [pauses, setPauses] = useState(settings !== null && settings.pause_percent !== null)
  const [pause, setPause] = useState(String(settings?.pause_percent ?? 70))
  const [guidelines, setGuidelines] = useState(settings?.guidelines ?? "")
  const say = useContext(Say)
  const id = useId()
  return (
    <Confirm
      title="Qualification"
      confirm="Save"
      ask={() =>
        client.set({
          items: Number(items),
          min_percent: Number(min),
          pause_percent: pauses ? Number(pause) : null,
          guidelines,
        })
      }
      onClose={onClose}
      onDone={() => {
        say("The qualification is changed.")
        reload()
      }}
    >
      <p class="muted small">
        {available === null
          ? "Gold items come from the file that the service is started with: serve --gold FILE. There is none."
          : `The gold file has ${plural(available, "distinct item")}${available === 1_000 ? " or more" : ""}. Who has voted already is not asked to qualify.`}
      </p>
      <div class="field">
        <label for={`${id}-items`}>Gold items that a new person judges first (0: none)</label>
        <input
          class="input"
          id={`${id}-items`}
          type="number"
          min={0}
          max={1_000}
          required
          value={items}
          onInput={(event) => setItems(event.currentTarget.value)}
        />
      </div>
      {Number(items) > 0 && <Percent label="Percent of them that must be right" value={min} onChange={setMin} />}
      {Number(items) > 0 && (
        <div class="field">
          <label for={`${id}-guidelines`}>Guidelines shown with them (optional, Markdown)</label>
          <textarea
            class="input"
            id={`${id}-guidelines`}
            rows={4}
            maxLength={100_000}
            value={guidelines}
            onInput={(event) => setGuidelines(event.currentTarget.value)}
          />
        </div>
      )}
      <fieldset class="choices">
        <legend>Later</legend>
        <label>
          <input type="checkbox" checked={pauses} onChange={(event) => setPauses(event.currentTarget.checked)} />
          <span>
            Pause who judges too few gold items right{" "}
            <span class="muted small">of the latest 20, from 5 on, those of the qualification included</span>
          </span>
        </label>
      </fieldset>
      {pauses && <Percent label="Pause below this percentage" value={pause} onChange={setPause} />}
    </Confirm>
  )
}

/** Lets a person in, or has the person qualify again. */
export const StandingDialog = ({
  expert,
  settings,
  standing,
  onClose,
  reload,
}: {
  readonly expert: ExpertSummary
  readonly settings: QualificationSettings
  readonly standing: Standing
  readonly onClose: () => void
  readonly reload: () => void
}) => {
  const mayQualify = settings.items > 0
  const [again, setAgain] = useState(standing.state === "working" && mayQualify)
  const say = useContext(Say)
  const name = useId()
  return (
    <Confirm
      title={`Qualification of ${expert.name}`}
      confirm={again ? "Qualify again" : "Let in"}
      ask={() => (again ? client.requalify(expert.expert_id) : client.admit(expert.expert_id))}
      onClose={onClose}
      onDone={() => {
        say(again ? `${expert.name} qualifies again.` : `${expert.name} gets work.`)
        reload()
      }}
    >
      <p>
        {standing.state === "working" ? "Gets work. " : <StandingBadge standing={standing} />}
        {standing.state === "working" &&
          standing.judged > 0 &&
          `Of the latest gold items ${count(standing.right)} of ${count(standing.judged)} were right.`}
      </p>
      <fieldset class="choices">
        <legend>From now on</legend>
        <label>
          <input type="radio" name={name} checked={!again} onChange={() => setAgain(false)} />
          <span>
            Let in <span class="muted small">gets work; gold items judged before no longer count for a pause</span>
          </span>
        </label>
        {mayQualify && (
          <label>
            <input type="radio" name={name} checked={again} onChange={() => setAgain(true)} />
            <span>
              Qualify again{" "}
              <span class="muted small">
                judges {plural(settings.items, "gold item")} first, new ones before those judged earlier
              </span>
            </span>
          </label>
        )}
      </fieldset>
    </Confirm>
  )
}
