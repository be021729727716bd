/** Asks for confirmation before signing out, because signing in again needs a new invitation. */
import { Button } from "../shared/Button.tsx"
import { Dialog } from "../shared/Dialog.tsx"

interface Props {
  readonly onClose: () => void
  readonly onSignOut: () => void
}

export const SignOutDialog = ({ onClose, onSignOut }: Props) => (
  <Dialog title="Sign out?" onClose={onClose}>
    <p>To come back, you will need a new invitation link. To take a break, close this page: you stay signed in.</p>
    <div class="row dialog-foot">
      <Button text="Stay" onClick={onClose} />
      <Button look="danger" text="Sign out" onClick={onSignOut} />
    </div>
  </Dialog>
)
