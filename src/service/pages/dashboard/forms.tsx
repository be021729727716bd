/**
 * Forms and their fields. A field keeps its own text; `Form` and `Confirm` read all fields by name when they are
 * submitted.
 */
import type { ComponentChildren, ComponentProps, JSX } from "preact"
import { useId } from "preact/hooks"
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { Answer } from "../shared/api.ts"
import { useAction } from "./hooks.ts"
import { Problem } from "./parts.tsx"
import type { problemWords } from "./wording.ts"

/** The entered values, by the names of the fields. */
export interface Values {
  /** The value without leading and trailing blanks. */
  readonly text: (name: string) => string
  readonly number: (name: string) => number
  /** The values of the checkboxes that are checked. */
  readonly all: (name: string) => ReadonlyArray<string>
}

export const valuesOf = (form: HTMLFormElement): Values => {
  const data = new FormData(form)
  const all = (name: string) => data.getAll(name).map(String)
  const text = (name: string) => (all(name)[0] ?? "").trim()
  return { all, text, number: (name) => Number(text(name)) }
}

export interface FormProps<A> {
  /** The accessible name. */
  readonly label?: string
  readonly class?: string
  /** The button's label; `submitting` replaces it while the request is in flight. */
  readonly submit: string
  readonly submitting?: string
  readonly buttonClass?: string
  /** Whether the fields have no changes to submit. */
  readonly isUnchanged?: boolean
  readonly ask: (values: Values) => Promise<Answer<A>>
  readonly onDone: (value: A) => void
  /** Replaces the service's words for a problem. */
  readonly words?: typeof problemWords
  readonly children: ComponentChildren
  /** Content beside the button. */
  readonly beside?: ComponentChildren
  /** Content between the fields and the button. */
  readonly hint?: ComponentChildren
}

/** A form that is cleared when the request succeeds. */
export const Form = <A,>(props: FormProps<A>) => {
  const { ask, beside, buttonClass = "primary", isUnchanged = false, onDone, submit, submitting = submit } = props
  const action = useAction(props.words)
  const isInLine = props.class?.includes("line-form") === true
  const problem = <Problem words={action.problem} />
  const button = (
    <button type="submit" class={`button ${buttonClass}`} aria-disabled={action.busy || isUnchanged}>
      {action.busy ? submitting : submit}
    </button>
  )
  return (
    <form
      class={props.class ?? "stack"}
      aria-label={props.label}
      onSubmit={(event) => {
        event.preventDefault()
        const form = event.currentTarget
        if (isUnchanged) return
        void action.run(
          () => ask(valuesOf(form)),
          (value) => {
            form.reset()
            onDone(value)
          },
        )
      }}
    >
      {props.children}
      {props.hint}
      {!isInLine && problem}
      {beside === undefined ? (
        button
      ) : (
        <div class="row">
          {button}
          {beside}
        </div>
      )}
      {isInLine && problem}
    </form>
  )
}

interface Labeled {
  readonly label: string
  readonly name: string
  /** The field's initial value. */
  readonly value?: string | number | undefined
  /** The class of the element around label and field. */
  readonly fieldClass?: string
}

export const Field = ({
  label,
  value,
  fieldClass = "",
  ...input
}: Labeled & Omit<JSX.IntrinsicElements["input"], "value">) => {
  const id = useId()
  return (
    <div class={`field ${fieldClass}`}>
      <label for={input.id ?? id}>{label}</label>
      <input class="input" id={id} autocomplete="off" type="text" {...(input as object)} defaultValue={value ?? ""} />
    </div>
  )
}

export const NumberField = (props: ComponentProps<typeof Field> & { readonly min: number; readonly max: number }) => (
  <Field type="number" required {...props} />
)

/** A required field for a name, which must not be blank. */
export const NameField = (
  props: Labeled & { readonly id: string; readonly placeholder: string; readonly title?: string },
) => <Field required pattern={String.raw`.*\S.*`} maxLength={maxLength.name} {...props} />

export const TextArea = ({
  label,
  value,
  fieldClass = "",
  ...area
}: Labeled & Omit<JSX.IntrinsicElements["textarea"], "value">) => {
  const id = useId()
  return (
    <div class={`field ${fieldClass}`}>
      <label for={id}>{label}</label>
      <textarea class="input" id={id} rows={2} {...area} defaultValue={value ?? ""} />
    </div>
  )
}

export const Select = ({
  label,
  value = "",
  fieldClass = "",
  options,
  ...select
}: Labeled & { readonly options: ReadonlyArray<Option> } & Omit<JSX.IntrinsicElements["select"], "value">) => {
  const id = useId()
  return (
    <div class={`field ${fieldClass}`}>
      <label for={id}>{label}</label>
      <select class="input" id={id} {...(select as object)}>
        {options.map(([option, words]) => (
          <option key={option} value={option} selected={option === String(value)}>
            {words}
          </option>
        ))}
      </select>
    </div>
  )
}

export type Option = readonly [value: string, words: string, hint?: JSX.Element | string]

/** Radio buttons, one below the other. */
export const Choices = ({
  legend,
  name,
  value,
  options,
  onChange,
}: {
  readonly legend: string
  readonly name: string
  /** The initial choice. */
  readonly value: string
  readonly options: ReadonlyArray<Option>
  readonly onChange?: (value: string) => void
}) => {
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {options.map(([option, words, hint]) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            value={option}
            defaultChecked={option === value}
            onChange={() => onChange?.(option)}
          />
          <span>
            {words} {hint !== undefined && <span class="muted small">{hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

const hours = ["0", "1", "24", "168", "720"]
const hourWords = ["Not at all: it stops immediately", "1 hour", "1 day", "7 days", "30 days"]

/** Asks how long a rotated token or secret remains valid, as `keep_hours`. */
export const KeepHours = ({ legend }: { readonly legend: string }) => (
  <Choices legend={legend} name="keep_hours" value="24" options={hours.map((value, i) => [value, hourWords[i]!])} />
)
