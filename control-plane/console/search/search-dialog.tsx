import { useEffect, useId, useRef, useState } from 'react';
import type { KeyboardEvent, ReactElement } from 'react';
import { useNavigate } from 'react-router';
import { ErrorNote } from '../design/feedback.tsx';
import { useFound } from './use-found.ts';
import type { FoundPlace } from './use-docs.ts';

/** Finds pages, configuration, kinds, documentation, visitors and events, and opens the chosen result. */
export function SearchDialog({ onDone }: { readonly onDone: () => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const navigate = useNavigate();
  const listId = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string>();
  const { places, error, isSearching } = useFound(text);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  // The selection is kept by content and not by index, because results arrive group by group.
  const at = Math.max(
    0,
    places.findIndex((place) => keyOf(place) === chosen),
  );
  const optionId = (index: number): string => `${listId}-${index}`;
  useEffect(() => {
    document.getElementById(optionId(at))?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const go = (place: FoundPlace | undefined): void => {
    if (place === undefined) return;
    onDone();
    // The documentation is not part of the console's routes.
    if (place.to.startsWith('/docs/')) globalThis.location.assign(place.to);
    else void navigate(place.to);
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && places.length > 0) {
      event.preventDefault();
      const next = places[(at + step + places.length) % places.length];
      setChosen(next === undefined ? undefined : keyOf(next));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      go(places[at]);
    } else if (event.key === 'Escape') {
      // By default, Esc in a search field only clears the text.
      event.preventDefault();
      onDone();
    }
  };
  return (
    <dialog ref={dialog} className="search" aria-label="Search" onClose={onDone}>
      <div className="row">
        <input
          type="search"
          role="combobox"
          aria-label="Search everything"
          aria-expanded={places.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          {...(places.length === 0 ? {} : { 'aria-activedescendant': optionId(at) })}
          autoComplete="off"
          maxLength={250}
          placeholder="A name, an id, an e-mail address, a page …"
          value={text}
          onKeyDown={press}
          onChange={(event) => {
            setText(event.target.value);
            setChosen(undefined);
          }}
        />
        <button type="button" onClick={onDone}>
          Close
        </button>
      </div>
      <ErrorNote error={error} />
      <p className="hint" role="status">
        {describeCount(text, places.length, isSearching)}
      </p>
      <ul id={listId} role="listbox" aria-label="Results">
        {places.map((place, index) => (
          <li
            key={keyOf(place)}
            id={optionId(index)}
            role="option"
            aria-selected={index === at}
            onClick={() => go(place)}
          >
            <span dir="auto">{place.label}</span>
            <span className="hint">{place.what}</span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}

const keyOf = ({ what, to, label }: FoundPlace): string => `${what} ${to} ${label}`;

function describeCount(text: string, count: number, isSearching: boolean): string {
  if (text.trim() === '') return 'Arrow keys choose, Enter opens, Esc closes.';
  if (isSearching) return 'Searching …';
  if (count === 0) return 'Nothing matches.';
  return count === 1 ? '1 result' : `${count} results`;
}
