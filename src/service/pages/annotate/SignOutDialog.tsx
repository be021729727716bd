/** Asks for confirmation before signing out, because signing in again needs a new invitation. */
import { Dialog } from "../shared/Dialog.tsx"

export const SignOutDialog = ({
  onClose,
  onSignOut,
}: {
  readonly onClose: () => void
  readonly onSignOut: () => void
}) => (
  <Dialog title="Sign out?" onClose={onClose}>
    <p>To come back you will need a new invitation link. To pause, just close this page: you stay signed in.</p>
    <div class="dialog-foot">
      <button type="button" class="button" onClick={onClose}>
        Stay
      </button>
      <button type="button" class="button danger" onClick={onSignOut}>
        Sign out
      </button>
    </div>
  </Dialog>
)
