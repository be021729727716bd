/** The languages of the prompts. */
import type { QualityReport } from "../../domain/QualityReport.ts"
import { count, name, plural, share, shareOf } from "./format.ts"
import { drawBars } from "./charts.ts"
import { Figure } from "./Figure.tsx"
import { Section, textColumn } from "./parts.tsx"

const maxBars = 10

const displayNames = new Intl.DisplayNames("en", { type: "language" })

const languageName = (code: string): string => {
  if (code === "und") return "unknown"
  // `Intl.DisplayNames` throws if a string does not have the form of a language code.
  return /^[a-z]{2,3}$/.test(code) ? (displayNames.of(code) ?? code) : name(code, 16)
}

export const Languages = ({ report: { languages } }: { readonly report: QualityReport }) => {
  const allItems = languages.reduce((sum, { items }) => sum + items, 0)
  const rows = languages.map(({ language, ...row }) => ({ language: languageName(language), ...row }))
  const first = rows[0]
  if (first === undefined || allItems === 0) {
    return <Section id="languages" title="Languages" lead="The languages of the prompts were not detected." />
  }
  const isSample = first.low !== null
  const prompts = isSample ? `a random sample of ${plural(allItems, "prompt")}` : plural(allItems, "prompt")
  const most = `${shareOf(first.items, allItems)} of ${prompts}: ${first.language}`
  const rest = rows.slice(maxBars)
  const barOf = (label: string, items: number, fill = "var(--accent)") => ({
    label,
    value: items,
    words: `${count(items)} (${shareOf(items, allItems)})`,
    fill,
  })
  const bars = rows.slice(0, maxBars).map(({ items, language }) => barOf(language, items))
  if (rest.length > 0) {
    const restItems = rest.reduce((sum, { items }) => sum + items, 0)
    bars.push(barOf(`${count(rest.length)} more`, restItems, "var(--line-strong)"))
  }
  return (
    <Section
      id="languages"
      title="Languages"
      lead={
        rows.length === 1
          ? `All of ${prompts}: ${first.language}.`
          : `${most}; ${plural(languages.filter(({ language }) => language !== "und").length, "known language")} in all.`
      }
    >
      {rows.length > 1 && (
        <Figure
          plots={[{ description: `Bar chart of prompts by language; ${most}.`, draw: drawBars(bars, 26, 116, 110) }]}
          caption={`${most}.`}
          label="Languages"
          columns={[
            textColumn("Language"),
            textColumn("Code"),
            "Items",
            "Share",
            ...(isSample ? ["95% interval"] : []),
          ]}
          rows={rows.map(({ high, items, language, low }, i) => [
            <bdi>{language}</bdi>,
            <bdi>{name(languages[i]?.language ?? "", 16)}</bdi>,
            count(items),
            shareOf(items, allItems),
            ...(low === null || high === null ? [] : [`${share(low)} to ${share(high)}`]),
          ])}
        />
      )}
    </Section>
  )
}
