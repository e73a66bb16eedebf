// Runs one bench file. A bench exports `run()`, which resolves to its rows: flat objects of text and numbers.
import { pathToFileURL } from "node:url";

const [file = ""] = process.argv.slice(2);
const { run } = await import(pathToFileURL(file).href);
const rows = await run();
console.table(rows);
process.send?.(rows, () => process.disconnect());
