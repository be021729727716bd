/** The images that the page may show: its handles, and the hosts that the service wrote into it (see `web/Pages`). */
import { type Allowed, handles } from "./images.ts"

export const allowedImages: Allowed = {
  hosts: (document.querySelector<HTMLMetaElement>("meta[name=image-hosts]")?.content ?? "")
    .split(" ")
    .filter((host) => host !== ""),
  handles,
}
