/** A dialog that lists the keyboard shortcuts. */
import { Dialog } from "../shared/Dialog.tsx"
import { help } from "./keys.ts"

export const KeysDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keys" class="keys" onClose={onClose}>
    <div class="grid keys-groups">
      {help.map(({ title, keys }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>
            {keys.map(([names, does]) => (
              <div key={does}>
                <dt>{names.map((name) => (name === "–" ? "–" : <kbd key={name}>{name}</kbd>))}</dt>
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
