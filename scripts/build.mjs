import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";

await main(prepare);
