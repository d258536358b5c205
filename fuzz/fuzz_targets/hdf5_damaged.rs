#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tisane_fuzz::hdf5_files::damaged(bytes));
