import type { ReactElement, ReactNode } from 'react';

export type FormButtonProps = {
  readonly isOpen: boolean;
  readonly onChange: (isOpen: boolean) => void;
  readonly children: ReactNode;
};

/** Shows or hides a page's form for a new entry. */
export function FormButton({ isOpen, onChange, children }: FormButtonProps): ReactElement {
  return (
    <button type="button" className="primary" aria-expanded={isOpen} onClick={() => onChange(!isOpen)}>
      {children}
    </button>
  );
}
