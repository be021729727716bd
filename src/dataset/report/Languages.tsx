/** The languages of the prompts. */
import { barX, plot, ruleX, text } from "@observablehq/plot"
import type { QualityReport } from "../../domain/QualityReport.ts"
import { count, name, plural, share, shareOf } from "./format.ts"
import { Figure } from "./Figure.tsx"
import { style } from "./histogram.ts"
import { Section } from "./parts.tsx"

const maxBars = 10

const displayNames = new Intl.DisplayNames("en", { type: "language" })

const languageName = (code: string): string => {
  if (code === "und") return "unknown"
  // `Intl.DisplayNames` throws for a text that is not shaped like a code.
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
  const bars = rows.slice(0, maxBars).map(({ items, language }, i) => ({ items, language, key: `${i}` }))
  if (rest.length > 0) {
    bars.push({
      language: `${count(rest.length)} more`,
      items: rest.reduce((sum, { items }) => sum + items, 0),
      key: "more",
    })
  }
  const nameOf = new Map(bars.map(({ key, language }) => [key, language]))
  const draw = (width: number) =>
    plot({
      width,
      height: 26 * bars.length + 12,
      marginLeft: 116,
      marginRight: 110,
      marginTop: 4,
      marginBottom: 8,
      style,
      x: { axis: null },
      y: {
        label: null,
        domain: bars.map(({ key }) => key),
        tickFormat: (key: string) => nameOf.get(key) ?? "",
        tickSize: 0,
      },
      marks: [
        barX(bars, {
          x: "items",
          y: "key",
          fill: (bar: { readonly key: string }) => (bar.key === "more" ? "var(--line-strong)" : "var(--accent)"),
          insetTop: 2,
          insetBottom: 2,
        }),
        text(bars, {
          x: "items",
          y: "key",
          text: (bar) => `${count(bar.items)} (${shareOf(bar.items, allItems)})`,
          textAnchor: "start",
          dx: 6,
          fill: "var(--ink)",
        }),
        ruleX([0], { stroke: "var(--line-strong)" }),
      ],
    })
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
          plots={[{ description: `Bars of prompts by language; ${most}.`, draw }]}
          caption={`${most}.`}
          label="Languages"
          columns={[
            { title: "Language", isText: true },
            { title: "Code", isText: true },
            { title: "Items" },
            { title: "Share" },
            ...(isSample ? [{ title: "95% interval" }] : []),
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
