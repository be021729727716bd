/**
 * A file system that is soon full: a tmpfs of a given size, which can be made larger.
 *
 * Mounting needs root, or sudo without a password. Where neither is to be had, tests are
 * skipped; but not in CI, where that is a failure.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const asRoot = (command: string, ...args: ReadonlyArray<string>) =>
  process.getuid?.() === 0
    ? execFileSync(command, args, { stdio: "pipe" })
    : execFileSync("sudo", ["-n", command, ...args], { stdio: "pipe" })

export interface SmallDisk {
  readonly path: string
  readonly grow: (size: string) => void
  readonly remove: () => void
}

export const make = (size: string): SmallDisk => {
  const path = mkdtempSync(join(tmpdir(), "prefstream-disk-"))
  asRoot("mount", "-t", "tmpfs", "-o", `size=${size},mode=1777`, "tmpfs", path)
  return {
    path,
    grow: (size) => void asRoot("mount", "-o", `remount,size=${size}`, path),
    remove: () => {
      asRoot("umount", path)
      rmSync(path, { recursive: true, force: true })
    },
  }
}

const canMount = () => {
  try {
    make("64k").remove()
    return true
  } catch {
    return false
  }
}

export const unavailable = !canMount()

if (unavailable && process.env["CI"] !== undefined) throw new Error("CI needs to mount a tmpfs: root, or sudo")
