import type { Subject } from '../plan/property-path.ts';
import { templateCharactersMax, writeValue } from '../plan/template.ts';
import { isJsonObject } from '../process/json.ts';
import { SettingError } from './define.ts';
import { templateSetting } from './template-setting.ts';

export type BodyTemplate = (subject: Subject) => string;

/**
 * Compiles a body with placeholders for the content type it is sent as, so that no value breaks out of its place: in
 * JSON it becomes a JSON value or a part of a string, in a form it is percent-encoded, in XML and HTML it is escaped;
 * in any other text it stands as it is. Throws SettingError.
 */
export function compileBodyTemplate(key: string, text: string, contentType: string): BodyTemplate {
  const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return compileJson(key, text);
  const template = templateSetting(key, text);
  if (mediaType === 'application/x-www-form-urlencoded') {
    return (subject) => template.renderText(subject, (value) => encodeURIComponent(writeValue(value).toWellFormed()));
  }
  if (mediaType.endsWith('/xml') || mediaType.endsWith('+xml') || mediaType === 'text/html') {
    return (subject) => template.renderText(subject, (value) => escapeMarkup(writeValue(value)));
  }
  return (subject) => template.renderText(subject);
}

/** Marks a placeholder that stands for a whole JSON value: JSON text cannot hold this character unescaped. */
const bareMark = '\u0000';
const stringOrPlaceholder = /"(?:[^"\\]|\\.)*"|\{\{[^{}]*\}\}/g;

/** The template is JSON itself, read once: `{"name": "Hello {{visitor.first_name}}", "price": {{event.…}}}`. */
function compileJson(key: string, text: string): BodyTemplate {
  if (text.length > templateCharactersMax) {
    throw new SettingError(key, `must be at most ${templateCharactersMax} characters`);
  }
  const readable = text.replace(stringOrPlaceholder, (found) =>
    found.startsWith('"') ? found : JSON.stringify(bareMark + found),
  );
  const render = compileValue(key, parse(key, readable), 0);
  return (subject) => JSON.stringify(render(subject));
}

const depthMax = 100;

function compileValue(key: string, value: unknown, depth: number): (subject: Subject) => unknown {
  if (depth > depthMax) throw new SettingError(key, `must be nested at most ${depthMax} deep`);
  if (typeof value === 'string') return compileString(key, value);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => compileValue(key, item, depth + 1));
    return (subject) => items.map((item) => item(subject));
  }
  if (!isJsonObject(value)) return () => value;
  const members = Object.entries(value).map(([name, member]) => ({
    name: templateSetting(key, name),
    member: compileValue(key, member, depth + 1),
  }));
  return (subject) =>
    Object.fromEntries(members.map(({ name, member }) => [name.renderText(subject), member(subject)]));
}

function compileString(key: string, text: string): (subject: Subject) => unknown {
  const isBare = text.startsWith(bareMark);
  const template = templateSetting(key, isBare ? text.slice(bareMark.length) : text);
  if (isBare) return (subject) => template.render(subject) ?? null;
  return (subject) => template.renderText(subject);
}

function parse(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SettingError(key, 'must be JSON, as its content type says; placeholders stand for values or in strings');
  }
}

const markup: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (char) => markup[char] ?? char);
}
