// The built proxy as a command: `node wrap.mjs STRATEGY COMMAND [ARGUMENT …]`.
import { runProxy } from "@acp-steering/proxy";

const [strategy, command, ...args] = process.argv.slice(2);
process.exit(await runProxy({ strategy, command, args }));
