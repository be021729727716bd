/** The parts of the dataset. */
import type { QualityReport } from "../../domain/QualityReport.ts"
import { count, name, plural, shareOf } from "./format.ts"
import { Bar, Section } from "./parts.tsx"
import { list } from "./wording.ts"

export const Splits = ({ report: { bridges, splits } }: { readonly report: QualityReport }) => {
  const pairs = splits.reduce((sum, split) => sum + split.pairs, 0)
  const items = splits.reduce((sum, split) => sum + split.items, 0)
  if (pairs === 0) return <Section id="splits" title="Splits" lead="There are no pairs to split." />
  const parts = splits.map((split) => `${shareOf(split.pairs, pairs)} ${name(split.split, 20)}`)
  return (
    <Section
      id="splits"
      title="Splits"
      lead={
        splits.length === 1
          ? `All ${plural(pairs, "pair")} are in one split.`
          : `Of the pairs, ${list(parts)}. An item is in one split only.${bridges === null || bridges === 0 ? "" : ` ${plural(bridges, "item")} ${bridges === 1 ? "resembles" : "resemble"} items of several splits.`}`
      }
    >
      <div class="scroll" role="region" aria-label="Splits" tabIndex={0}>
        <table class="splits">
          <thead>
            <tr>
              <th scope="col">Split</th>
              <th scope="col" class="number">
                Items
              </th>
              <th scope="col" class="number">
                Pairs
              </th>
              <th scope="col" class="number">
                Share
              </th>
              <th scope="col" class="bars">
                <span class="unseen">As a bar</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {splits.map((split) => (
              <tr key={split.split}>
                <th scope="row">
                  <bdi>{name(split.split, 20)}</bdi>
                </th>
                <td class="number">{count(split.items)}</td>
                <td class="number">{count(split.pairs)}</td>
                <td class="number">{shareOf(split.pairs, pairs)}</td>
                <td class="bars">
                  <Bar value={split.pairs} of={pairs} />
                </td>
              </tr>
            ))}
          </tbody>
          {splits.length > 1 && (
            <tfoot>
              <tr>
                <th scope="row">All</th>
                <td class="number">{count(items)}</td>
                <td class="number">{count(pairs)}</td>
                <td class="number">100%</td>
                <td class="bars" />
              </tr>
            </tfoot>
          )}
        </table>
      </div>
    </Section>
  )
}
