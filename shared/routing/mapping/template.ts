import { stringifyExact } from '../../json/exact-numbers.ts';
import { jsonDepthCeiling, valueNestsDeeper } from '../../runtime/json-depth.ts';
import { PlanError } from '../values/plan-error.ts';
import { compilePropertyPath } from '../values/property-path.ts';
import type { ReadProperty, Subject } from '../values/property-path.ts';

export const templateCharactersMax = 10_000;
export const templatePlaceholdersMax = 100;

export type Template = {
  /** The value: with the property's own type if the template is exactly one placeholder, else text. */
  render(subject: Subject): unknown;
  /** The digits of the number, if the template is one placeholder and the digits were kept. */
  numberText(subject: Subject): string | undefined;
  /** Always text; `encode` writes the placeholders' values so that they fit the URL, header or JSON around them. */
  renderText(subject: Subject, encode?: (value: unknown) => string): string;
};

/**
 * Compiles a template: text with paths in double braces, `Hello {{visitor.first_name}}`. Paths are the same as in
 * conditions; space inside the braces is ignored. Text without braces is sent unchanged, and so are braces that are not
 * closed. A template that is one placeholder keeps the value's type: `{{event.event_properties.price}}` stays a number,
 * and a path without a value stays undefined. Within other text a missing value or null is empty, and a list or object
 * is written as JSON. Written text is charged to the subject's work. At most 10,000 characters and 100 placeholders.
 * Throws PlanError naming the field.
 */
export function compileTemplate(template: string, field: string): Template {
  if (template.length > templateCharactersMax) {
    throw new PlanError(field, `must be at most ${templateCharactersMax} characters`);
  }
  const parts = partsOf(template, field);
  if (parts.filter(isPlaceholder).length > templatePlaceholdersMax) {
    throw new PlanError(field, `must have at most ${templatePlaceholdersMax} placeholders`);
  }
  const renderText: Template['renderText'] = (subject, encode = writeValue) =>
    parts
      .map((part) => {
        const text = isPlaceholder(part) ? encode(exactValue(part, subject)) : part;
        subject.work?.spend(1 + text.length);
        return text;
      })
      .join('');
  const [only, ...others] = parts;
  const isOnePlaceholder = only !== undefined && isPlaceholder(only) && others.length === 0;
  return {
    render: isOnePlaceholder ? only : (subject) => renderText(subject),
    numberText: (subject) => (isOnePlaceholder ? only.numberText?.(subject) : undefined),
    renderText,
  };
}

/** The value of a placeholder; for a number whose digits were kept, the digits. */
function exactValue(read: ReadProperty, subject: Subject): unknown {
  const value = read(subject);
  return typeof value === 'number' ? (read.numberText?.(subject) ?? value) : value;
}

/**
 * A value as text: empty for null and undefined, JSON for lists and objects unless they nest deeper than events may.
 */
export function writeValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return valueNestsDeeper(value, jsonDepthCeiling) ? '' : stringifyExact(value, value);
}

/** Literal text, or a function that reads a placeholder's value. */
type Part = string | ReadProperty;

function isPlaceholder(part: Part): part is ReadProperty {
  return typeof part === 'function';
}

function partsOf(template: string, field: string): readonly Part[] {
  return splitTemplate(template).map((part) =>
    typeof part === 'string' ? part : compilePlaceholder(part.placeholder, field),
  );
}

/** A template's literal texts and the paths of its placeholders, in their order. */
export function splitTemplate(template: string): readonly (string | { readonly placeholder: string })[] {
  const parts: (string | { readonly placeholder: string })[] = [];
  let literalFrom = 0;
  let open = template.indexOf('{{');
  while (open !== -1) {
    const close = template.indexOf('}}', open);
    if (close === -1) break;
    // In `{{{a}}` the inner pair is the placeholder: a path contains no brace.
    const start = template.lastIndexOf('{{', close);
    if (start > literalFrom) parts.push(template.slice(literalFrom, start));
    parts.push({ placeholder: template.slice(start + 2, close) });
    literalFrom = close + 2;
    open = template.indexOf('{{', literalFrom);
  }
  if (literalFrom < template.length) parts.push(template.slice(literalFrom));
  return parts;
}

function compilePlaceholder(path: string, field: string): ReadProperty {
  if (path.trim() === '') throw new PlanError(field, 'has a placeholder without a path');
  return compilePropertyPath(path, field);
}
