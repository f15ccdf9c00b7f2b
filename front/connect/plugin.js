// Written by `assent connect opencode`; `assent connect opencode --undo` removes it.
// Every call of a tool is held until assent has answered. Whatever is not the one
// answer that says go throws, and opencode does not run the tool then.
import { spawn } from "node:child_process"

const program = "@PROGRAM@"

function asked(message) {
  return new Promise((resolve, reject) => {
    const no = (why) => reject(new Error(why || "assent refused without a reason"))
    let said = ""
    let why = ""
    let child
    try {
      child = spawn(program, ["@ARGUMENTS@"], { stdio: ["pipe", "pipe", "pipe"] })
    } catch (e) {
      return no("assent-hook cannot be started: " + e)
    }
    child.on("error", (e) => no("assent-hook cannot be started: " + e.message))
    child.stdout.setEncoding("utf8").on("data", (text) => { said += text })
    child.stderr.setEncoding("utf8").on("data", (text) => { why += text })
    child.on("close", (code, signal) => {
      if (code !== 0) return no(why.trim() || `assent-hook ended with ${signal || code}`)
      resolve(said)
    })
    child.stdin.on("error", () => {}) // its end says why
    child.stdin.end(JSON.stringify(message))
  })
}

export const Assent = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const said = await asked({ event: "tool.execute.before", directory, input, output })
    let answer
    try {
      answer = JSON.parse(said)
    } catch {
      throw new Error("assent-hook gave no answer that can be read")
    }
    if (answer === null || answer.decision !== "allow") throw new Error("assent-hook did not allow the call")
  },
  "tool.execute.after": async (input, output) => {
    try {
      await asked({ event: "tool.execute.after", directory, input, output })
    } catch {} // the call has run
  },
})
