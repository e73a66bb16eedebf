import { prove } from "./stand-ins/prove.js";

const UNTIL_SHOWN = "a goose that has not yet shown a steer says nothing of what it drops at the end of a run";

prove("native", "auto");
prove("goose", "auto", { optOut: { "receipt.undelivered": UNTIL_SHOWN, "report.owner": UNTIL_SHOWN } });
