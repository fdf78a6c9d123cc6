import type { Subject } from '../plan/property-path.ts';
import { writeValue } from '../plan/template.ts';
import { SettingError, UnfitEventError } from './define.ts';
import { sampleEvent } from './sample-event.ts';
import { templateSetting } from './template-setting.ts';
import { readWebUrl } from './web-url.ts';

const urlCharactersMax = 8_192;
const fixedStart = /^https?:\/\/[^/?#\\\s{}]+(?=[/?#]|$)/i;
const dotSegment = /(^|[/\\])(\.|%2e){1,2}([/\\]|$)/i;

export type UrlTemplate = (subject: Subject) => string;

/**
 * Compiles a URL with placeholders. An event fills in parts of the path and the query, percent-encoded; the host, and
 * with it who gets the headers, is what the setting's owner wrote. Throws SettingError; what it returns throws
 * UnfitEventError for values that would lead elsewhere.
 */
export function compileUrlTemplate(key: string, text: string): UrlTemplate {
  const template = templateSetting(key, text);
  const start = fixedStart.exec(text.trim())?.[0];
  if (start === undefined) {
    throw new SettingError(key, 'must begin with http:// or https:// and a host without placeholders');
  }
  const { origin } = new URL(readWebUrl(key, start));
  const withSamples = template.renderText(sampleEvent(), () => 'x').trim();
  if (dotSegment.test(pathOf(withSamples))) throw new SettingError(key, 'must not have . or .. in its path');
  readWebUrl(key, withSamples);
  return (subject) => {
    const rendered = template.renderText(subject, percentEncode).trim();
    // Dots have no percent-encoding that a URL would not read as dots.
    if (dotSegment.test(pathOf(rendered))) throw new UnfitEventError('the URL would have . or .. in its path');
    if (rendered.length > urlCharactersMax) throw new UnfitEventError('the URL would be too long');
    const url = URL.canParse(rendered) ? new URL(rendered) : undefined;
    if (url?.origin !== origin) throw new UnfitEventError('the values make no usable URL');
    url.hash = '';
    return url.href;
  };
}

/** A value as a part of a URL that stays one part, whatever it holds. */
function percentEncode(value: unknown): string {
  const text = writeValue(value).toWellFormed();
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function pathOf(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(fixedStart, '');
}
