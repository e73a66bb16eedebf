import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { repositoryFiles } from "./check-house.mjs";
import { ROOT } from "./repository.mjs";

/**
 * Every link of every page to something in this repository: the file is there, and so is the heading.
 *
 * @returns {string[]} one line per fault
 */
export function linkFaults() {
  return repositoryFiles()
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) => faultsOf(path, readFileSync(join(ROOT, path), "utf8")));
}

/**
 * @param {string} page relative to the repository
 * @param {string} text
 * @returns {string[]}
 */
function faultsOf(page, text) {
  return linksOf(text).flatMap((link) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), decodeURIComponent(path));
    if (!existsSync(target)) {
      return [`${page}: links to ${link}, which is not there`];
    }
    if (anchor === undefined || statSync(target).isDirectory() || !target.endsWith(".md")) {
      return [];
    }
    return anchorsOf(readFileSync(target, "utf8")).has(anchor)
      ? []
      : [`${page}: links to ${link}, but ${relative(ROOT, target)} has no such heading`];
  });
}

/**
 * @param {string} markdown
 * @returns {string[]} targets inside of the repository
 */
export function linksOf(markdown) {
  const prose = withoutCode(markdown);
  const inline = [...prose.matchAll(/\]\(([^()\s]+(?:\([^()\s]*\))?)\)/g)];
  const references = [...prose.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)];
  return [...inline, ...references].map(([, target = ""]) => target).filter((target) => !/^[a-z]+:/i.test(target));
}

/**
 * The anchors of a page, as GitHub makes them.
 *
 * @param {string} markdown
 * @returns {Set<string>}
 */
export function anchorsOf(markdown) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  const anchors = new Set([...markdown.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id = ""]) => id));
  for (const [, title = ""] of withoutFences(markdown).matchAll(/^#{1,6} +(.*?) *#*$/gm)) {
    const text = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
    const slug = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** @param {string} markdown */
const withoutFences = (markdown) => markdown.replaceAll(/^ *(`{3,}|~{3,})[\s\S]*?^ *\1/gm, "");

/** @param {string} markdown */
const withoutCode = (markdown) => withoutFences(markdown).replaceAll(/`[^`\n]*`/g, "");
