/** What Pi makes of a skill command before its model reads it: the skill's text, then the user's. */
const SKILL = /^<skill name="([^"]*)" location="[^"]*">\n[\s\S]*?\n<\/skill>(?:\n\n([\s\S]*))?$/;

/** A user message of Pi's history as the user typed it. Templates of prompts leave no trace of what they were. */
export function asTyped(text: string): string {
  const [, name, words] = SKILL.exec(text) ?? [];
  if (name === undefined) return text;
  return words === undefined ? `/skill:${name}` : `/skill:${name} ${words}`;
}
