import { useRef, useState } from 'react';
import type { ReactElement } from 'react';
import { Check, Field } from '../design/field.tsx';
import type { ConsentSignals } from './rule.ts';

type SignalFieldsProps = {
  readonly signals: ConsentSignals | null;
  onChange(signals: ConsentSignals | null): void;
};

type CategoryList = 'segment' | 'rudderstack' | 'oneTrust' | 'cookiebot' | 'didomi';

const categoryLists: readonly { readonly key: CategoryList; readonly label: string; readonly hint: string }[] = [
  {
    key: 'segment',
    label: 'Segment categories',
    hint: 'Ids in context.consent.categoryPreferences. All must be allowed.',
  },
  { key: 'rudderstack', label: 'RudderStack consent ids', hint: 'Ids in context.consentManagement.' },
  { key: 'oneTrust', label: 'OneTrust groups', hint: 'Such as C0004. Read from the property optanon.' },
  {
    key: 'cookiebot',
    label: 'Cookiebot categories',
    hint: 'preferences, statistics, marketing. Read from the property cookieconsent.',
  },
  { key: 'didomi', label: 'Didomi purposes', hint: 'Read from the property didomi.' },
];

const optOuts = [
  ['saleOptOut', 'Opt-out of sale'],
  ['sharingOptOut', 'Opt-out of sharing'],
  ['targetedAdvertisingOptOut', 'Opt-out of targeted advertising'],
] as const;

const consentTypes = ['ad_storage', 'ad_user_data', 'ad_personalization'] as const;

const gpcWords = [
  ['off', 'has no effect'],
  ['deny', 'denies, unless the event or the visitor has a decision'],
  ['always', 'always denies'],
] as const;

/** The consent signals that decide on a purpose. */
export function SignalFields({ signals, onChange }: SignalFieldsProps): ReactElement {
  const change = (changed: ConsentSignals): void => {
    const next = Object.entries({ ...signals, ...changed }).filter(([, value]) => value !== undefined);
    onChange(next.length === 0 ? null : Object.fromEntries(next));
  };
  const { tcf, gpp = [], gpc = 'off', googleConsentMode = [] } = signals ?? {};
  const lastTcf = useRef(tcf);
  if (tcf !== undefined) lastTcf.current = tcf;
  const changeTcf = (changed: Partial<Tcf>): void => change({ tcf: changedTcf(lastTcf.current, tcf, changed) });
  return (
    <details open={signals !== null}>
      <summary>Signals of consent platforms and browsers</summary>
      <p className="soft">Used when neither the event nor its visitor has a decision. Empty fields are ignored.</p>
      {categoryLists.map(({ key, label, hint }) => (
        <ListField
          key={key}
          label={label}
          hint={hint}
          separator={atCommas}
          value={signals?.[key] ?? []}
          onChange={(ids) => change({ [key]: ids.length === 0 ? undefined : ids })}
        />
      ))}
      <ListField
        label="TCF purposes"
        hint="IAB purpose numbers, such as 1, 3, 4. All need consent in the property tcf."
        value={(tcf?.purposes ?? []).map(String)}
        onChange={(ids) => changeTcf({ purposes: numbersOf(ids) })}
      />
      <ListField
        label="TCF vendors"
        hint="IAB vendor numbers. All need consent too."
        value={(tcf?.vendors ?? []).map(String)}
        onChange={(ids) => changeTcf({ vendors: ids.length === 0 ? undefined : numbersOf(ids) })}
      />
      {tcf === undefined ? null : (
        <Check
          label="Ignore TCF where the GDPR does not apply"
          checked={tcf.onlyWhereGdprApplies === true}
          onChange={(isOnly) => changeTcf({ onlyWhereGdprApplies: isOnly ? true : undefined })}
        />
      )}
      {optOuts.map(([optOut, label]) => (
        <Check
          key={optOut}
          label={`${label} (GPP, US Privacy) denies`}
          checked={gpp.includes(optOut)}
          onChange={(isOn) => {
            const next = optOuts.map(([one]) => one).filter((one) => (one === optOut ? isOn : gpp.includes(one)));
            change({ gpp: next.length === 0 ? undefined : next });
          }}
        />
      ))}
      {consentTypes.map((type) => (
        <Check
          key={type}
          label={`Pass the decision to Google and Microsoft as ${type}`}
          checked={googleConsentMode.includes(type)}
          onChange={(isOn) => {
            const next = consentTypes.filter((one) => (one === type ? isOn : googleConsentMode.includes(one)));
            change({ googleConsentMode: next.length === 0 ? undefined : next });
          }}
        />
      ))}
      <Field label="Global Privacy Control of the browser">
        {(ids) => (
          <select
            {...ids}
            value={gpc}
            onChange={(event) => {
              const word = gpcWords.find(([one]) => one === event.target.value)?.[0];
              change({ gpc: word === 'off' ? undefined : word });
            }}
          >
            {gpcWords.map(([word, label]) => (
              <option key={word} value={word}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
    </details>
  );
}

type ListFieldProps = {
  readonly label: string;
  readonly hint: string;
  /** By default commas and spaces. */
  readonly separator?: RegExp;
  readonly value: readonly string[];
  onChange(ids: readonly string[]): void;
};

/** A field for several words. The text stays as the user typed it. */
export function ListField({ label, hint, separator, value, onChange }: ListFieldProps): ReactElement {
  const [text, setText] = useState(value.join(', '));
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <input
          {...ids}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            onChange(entriesOf(event.target.value, separator));
          }}
        />
      )}
    </Field>
  );
}

/** Separates names, which may contain spaces. */
export const atCommas = /[,\n]/;

/** The different entries of a text. Pure. */
export function entriesOf(text: string, separator = /[\s,]/): readonly string[] {
  const entries = text.split(separator).map((entry) => entry.trim());
  return [...new Set(entries.filter((entry) => entry !== ''))];
}

type Tcf = NonNullable<ConsentSignals['tcf']>;

/**
 * TCF settings after a change; undefined without purposes and vendors. `last` are the settings that were defined last:
 * those that have no text field stay while both text fields are empty. Pure.
 */
export function changedTcf(last: Tcf | undefined, tcf: Tcf | undefined, changed: Partial<Tcf>): Tcf | undefined {
  const next = { ...last, purposes: tcf?.purposes ?? [], vendors: tcf?.vendors, ...changed };
  const isEmpty = next.purposes.length === 0 && (next.vendors ?? []).length === 0;
  return isEmpty ? undefined : next;
}

/** Text that is not a number becomes NaN, which is sent as null, so that the API rejects it. */
const numbersOf = (ids: readonly string[]): number[] => ids.map(Number);
