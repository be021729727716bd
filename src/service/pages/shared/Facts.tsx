/** A `<dl>` of names and values, such as a task's numbers. */
import type { ComponentChildren } from "preact"

export type Fact = readonly [name: string, value: ComponentChildren, note?: ComponentChildren]

export const Facts = ({ facts }: { readonly facts: ReadonlyArray<Fact | false | null> }) => (
  <dl class="facts">
    {facts.map(
      (fact) =>
        fact && (
          <div key={fact[0]}>
            <dt>{fact[0]}</dt>
            <dd>
              <span class="value">{fact[1]}</span>
              {fact[2] !== undefined && <span class="words">{fact[2]}</span>}
            </dd>
          </div>
        ),
    )}
  </dl>
)
