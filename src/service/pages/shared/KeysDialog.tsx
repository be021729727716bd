/** A dialog that lists the keyboard shortcuts of a page. */
import { Dialog } from "./Dialog.tsx"
import type { KeyGroup } from "./keyGroup.ts"

interface Props {
  readonly groups: ReadonlyArray<KeyGroup>
  readonly onClose: () => void
}

export const KeysDialog = ({ groups, onClose }: Props) => (
  <Dialog title="Keys" class="keys" onClose={onClose}>
    <div class="keys-groups">
      {groups.map(({ title, keys }) => (
        <section key={title}>
          {title !== "" && <h3>{title}</h3>}
          <dl>
            {keys.map(([names, does]) => (
              <div key={does}>
                <dt>{names.map((name) => (name === "–" ? name : <kbd key={name}>{name}</kbd>))}</dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
    <p class="small muted">While you write, only Esc and Ctrl Enter (⌘ Enter) work as shortcuts.</p>
  </Dialog>
)
