import { hasDotSegment } from '../../egress/dot-segment.ts';
import { UnfitEventError } from './destination.ts';
import type { ClickConversion } from './click-postback.ts';
import { address, readWebUrl, requiredText, SettingError } from './settings.ts';
import type { Setting } from './settings.ts';

/** The placeholders of a postback address. */
const valuesOf = {
  click: ({ click }: ClickConversion) => click,
  event: ({ name }: ClickConversion) => name,
  order_id: ({ commerce, deduplicationId }: ClickConversion) => commerce.orderId ?? deduplicationId,
  value: ({ commerce }: ClickConversion) => commerce.value?.toString() ?? '',
  currency: ({ commerce }: ClickConversion) => commerce.currency ?? '',
  time: ({ timeMs }: ClickConversion) => String(Math.floor(timeMs / 1_000)),
} as const satisfies Readonly<Record<string, (conversion: ClickConversion) => string>>;

type Placeholder = keyof typeof valuesOf;

const urlCharactersMax = 8_192;
const placeholder = /\{\{\s*([a-z_]+)\s*\}\}/g;

export type PostbackUrl = (conversion: ClickConversion) => string;

/**
 * A postback address as the platform shows it to its customer, with placeholders in place of the
 * platform's macros: `{{click}}`, which is required, and `{{event}}`, `{{order_id}}`, `{{value}}`,
 * `{{currency}}` and `{{time}}` (seconds since the epoch). Placeholders are allowed in the path and
 * the query, where values are percent-encoded.
 */
export function postbackUrl(declared: {
  readonly label: string;
  readonly sublabel: string;
  readonly example: string;
}): Setting<PostbackUrl> {
  return address(requiredText({ ...declared, placeholder: declared.example }, compilePostbackUrl));
}

function compilePostbackUrl(text: string, key: string): PostbackUrl {
  const trimmed = text.trim();
  const [start = ''] = /^https?:\/\/[^/?#\s{}]+/i.exec(trimmed) ?? [];
  if (start === '') throw new SettingError(key, 'must begin with http:// or https:// and a host without placeholders');
  const names = [...trimmed.matchAll(placeholder)].map(([, name = '']) => name);
  const unknown = names.find((name) => !isPlaceholder(name));
  if (unknown !== undefined) {
    throw new SettingError(key, `may have the placeholders ${Object.keys(valuesOf).join(', ')}, not ${unknown}`);
  }
  if (!names.includes('click')) throw new SettingError(key, 'must have {{click}} in place of the click id');
  const withSamples = trimmed.replaceAll(placeholder, 'x');
  if (hasDotSegment(withSamples)) throw new SettingError(key, 'must not have . or .. in its path');
  const { origin } = new URL(readWebUrl(withSamples, key));
  return (conversion) => {
    const url = trimmed.replaceAll(placeholder, (_, name: string) =>
      isPlaceholder(name) ? encodeURIComponent(valuesOf[name](conversion).toWellFormed()) : '',
    );
    if (url.length > urlCharactersMax) throw new UnfitEventError('the event is too large for a URL');
    if (hasDotSegment(url)) throw new UnfitEventError("the event's values put . or .. into the URL path");
    const made = URL.canParse(url) ? new URL(url) : undefined;
    if (made?.origin !== origin) throw new UnfitEventError("the event's values give an invalid URL");
    made.hash = '';
    return made.href;
  };
}

function isPlaceholder(name: string): name is Placeholder {
  return Object.hasOwn(valuesOf, name);
}
