/** The choice of how long a rotated token or secret remains valid. */
import { useId } from "preact/hooks"

const choices = [
  [0, "Not at all: it stops immediately"],
  [1, "1 hour"],
  [24, "1 day"],
  [168, "7 days"],
  [720, "30 days"],
] as const

export const defaultKeepHours = 24

export const KeepHours = ({
  legend,
  hours,
  onChange,
}: {
  readonly legend: string
  readonly hours: number
  readonly onChange: (hours: number) => void
}) => {
  const name = useId()
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {choices.map(([value, label]) => (
        <label key={value}>
          <input type="radio" name={name} checked={hours === value} onChange={() => onChange(value)} />
          {label}
        </label>
      ))}
    </fieldset>
  )
}
