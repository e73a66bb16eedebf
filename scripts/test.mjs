import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { runNode, toolScript } from "./repository.mjs";
import { closingLine } from "./test-report.mjs";

await main(async () => {
  await prepare();
  const folder = mkdtempSync(join(tmpdir(), "acp-steering-test-"));
  const report = join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const code = await runNode([toolScript("vitest"), "run", ...reporters, ...process.argv.slice(2)], {
      stdout: "inherit",
    });
    console.log(closingLine(JSON.parse(readFileSync(report, "utf8"))));
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
