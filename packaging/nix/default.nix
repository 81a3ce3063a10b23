# The expression for Nix: nix-build packaging/nix, in the tree of sources.
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "wireup";
  version = "0.1.0";
  src = pkgs.lib.cleanSource ../..;

  nativeBuildInputs = with pkgs; [ meson ninja pkg-config ];
  buildInputs = with pkgs; [ hwloc libevent libsodium munge zlib ];

  mesonFlags = [ "-Dtests=false" ];
  doCheck = false;

  meta = {
    description = "Launcher and process manager for parallel programs; PMI-1, PMI-2 and PMIx";
    license = pkgs.lib.licenses.bsd3;
    platforms = pkgs.lib.platforms.linux;
    mainProgram = "wireup";
  };
}
