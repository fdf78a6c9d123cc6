import { numberText, parseExact, stringifyExact } from '../../json/exact-numbers.ts';
import { hasDotSegment } from '../../egress/dot-segment.ts';
import { PlanError } from '../../routing/values/plan-error.ts';
import type { Subject } from '../../routing/values/property-path.ts';
import { compileTemplate, templateCharactersMax, writeValue } from '../../routing/mapping/template.ts';
import type { Template } from '../../routing/mapping/template.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { UnfitEventError } from './destination.ts';
import type { OutboundEvent } from './destination.ts';
import { mappedEvent } from './event.ts';
import { readWebUrl, SettingError } from './settings.ts';
import { sampleEvent } from './sample-event.ts';

/** Compiles a setting's template. Throws SettingError naming the setting. */
export function templateSetting(text: string, key: string): Template {
  try {
    return compileTemplate(text, key);
  } catch (error) {
    if (error instanceof PlanError) throw new SettingError(key, error.problem);
    throw error;
  }
}

/**
 * The input of a setting's templates: the event, mapped if a mapping matches, and its visitor.
 */
export function templateSubject(event: OutboundEvent): Subject {
  return { ...mappedEvent(event), work: event.work };
}

const urlCharactersMax = 8_192;
const fixedStart = /^https?:\/\/[^/?#\\\s{}]+(?=[/?#]|$)/i;

export type UrlTemplate = (subject: Subject) => string;

/**
 * Compiles a URL with placeholders. An event fills parts of the path and query, percent-encoded;
 * the host, and therefore the recipient of the headers, is fixed by the setting. Throws
 * SettingError; the compiled function throws UnfitEventError for values that would change the
 * target.
 */
export function compileUrlTemplate(text: string, key: string): UrlTemplate {
  const template = templateSetting(text, key);
  const start = fixedStart.exec(text.trim())?.[0];
  if (start === undefined) {
    throw new SettingError(key, 'must begin with http:// or https:// and a host without placeholders');
  }
  const { origin } = new URL(readWebUrl(start, key));
  const withSamples = template.renderText(sampleEvent(), () => 'x').trim();
  if (hasDotSegment(withSamples)) throw new SettingError(key, 'must not have . or .. in its path');
  readWebUrl(withSamples, key);
  return (subject) => {
    const rendered = template.renderText(subject, percentEncode).trim();
    if (hasDotSegment(rendered)) throw new UnfitEventError("the event's values put . or .. into the URL path");
    if (rendered.length > urlCharactersMax) throw new UnfitEventError('the URL would be too long');
    const url = URL.canParse(rendered) ? new URL(rendered) : undefined;
    if (url?.origin !== origin) throw new UnfitEventError("the event's values give an invalid URL");
    url.hash = '';
    return url.href;
  };
}

/** Encodes a value so that it cannot leave its path segment or query parameter. */
function percentEncode(value: unknown): string {
  const text = writeValue(value).toWellFormed();
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

export type BodyTemplate = (subject: Subject) => string;

/**
 * Compiles a body template as its content type requires, so that no value can break out of its
 * position. In JSON a value becomes a JSON value or part of a string, in a form it is percent-encoded,
 * in XML and HTML it is escaped; in any other text it is inserted unchanged. Throws SettingError.
 */
export function compileBodyTemplate(text: string, key: string, contentType: string): BodyTemplate {
  const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return compileJson(text, key);
  const template = templateSetting(text, key);
  if (mediaType === 'application/x-www-form-urlencoded') {
    return (subject) => template.renderText(subject, (value) => encodeURIComponent(writeValue(value).toWellFormed()));
  }
  if (mediaType.endsWith('/xml') || mediaType.endsWith('+xml') || mediaType === 'text/html') {
    return (subject) => template.renderText(subject, (value) => escapeMarkup(writeValue(value)));
  }
  return (subject) => template.renderText(subject);
}

/**
 * Marks a placeholder for a whole JSON value, because JSON text cannot contain this character unescaped.
 */
const bareMark = '\u0000';
const stringOrPlaceholder = /"(?:[^"\\]|\\.)*"|\{\{[^{}]*\}\}/g;

/**
 * The template itself is JSON, parsed once: `{"name": "Hello {{visitor.first_name}}", "price":
 * {{event.…}}}`.
 */
function compileJson(text: string, key: string): BodyTemplate {
  if (text.length > templateCharactersMax) {
    throw new SettingError(key, `must have at most ${templateCharactersMax} characters`);
  }
  const readable = text.replace(stringOrPlaceholder, (found) =>
    found.startsWith('"') ? found : JSON.stringify(bareMark + found),
  );
  return compileValue(key, parse(key, readable), 0);
}

const depthMax = 100;

/** Compiles a value of the template to a function that writes it as JSON. */
function compileValue(key: string, value: unknown, depth: number): BodyTemplate {
  if (depth > depthMax) throw new SettingError(key, `must be nested at most ${depthMax} levels deep`);
  if (typeof value === 'string') return compileString(key, value);
  if (Array.isArray(value)) {
    const items = value.map((_, index) => compileMember(key, value, String(index), depth));
    return (subject) => `[${items.map((item) => item(subject)).join(',')}]`;
  }
  if (!isJsonObject(value)) return () => JSON.stringify(value);
  const members = Object.keys(value).map((name) => ({
    name: templateSetting(name.replace(bareMark, ''), key),
    member: compileMember(key, value, name, depth),
  }));
  return (subject) => {
    // If two names become the same, the later member counts, as in a JavaScript object.
    const texts = new Map(members.map(({ name, member }) => [name.renderText(subject), member(subject)]));
    return `{${Array.from(texts, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  };
}

function compileMember(key: string, holder: object, name: string, depth: number): BodyTemplate {
  const digits = numberText(holder, name);
  if (digits !== undefined) return () => digits;
  return compileValue(key, (holder as Readonly<Record<string, unknown>>)[name], depth + 1);
}

function compileString(key: string, text: string): BodyTemplate {
  const isBare = text.startsWith(bareMark);
  const template = templateSetting(isBare ? text.slice(bareMark.length) : text, key);
  if (!isBare) return (subject) => JSON.stringify(template.renderText(subject));
  return (subject) => {
    const value = template.render(subject) ?? null;
    const digits = typeof value === 'number' ? template.numberText(subject) : undefined;
    return digits ?? stringifyExact(value, subject.event, subject.visitor);
  };
}

function parse(key: string, text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    throw new SettingError(
      key,
      'must be JSON, as its content type says; placeholders may be values or parts of strings',
    );
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
